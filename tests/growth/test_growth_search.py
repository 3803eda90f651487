"""A search by mutation for inputs whose time grows out of proportion: sizes are doubled twice, and the processor's time watched.

Run by ``make soak NAME=growth``. ``REHI_SOAK_SECONDS`` (600, of processor time), ``REHI_SOAK_SIZE`` (1: times the largest sizes) and ``REHI_SOAK_SEED``
(drawn by lot) may be set. The seed is printed, and every shape draws from the seed and its number alone: ``REHI_SOAK_FIRST`` begins
with another number than 0. ``REHI_SOAK_DOOR`` names one door.
"""

from __future__ import annotations

import faulthandler
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from tests.growth import intake, reading
from tests.growth.shapes import Shape, mutate, pair, repeat
from tests.growth.watch import Excess, GrowthDoor, find_excess, shrink

SECONDS = float(os.environ.get("REHI_SOAK_SECONDS", "600"))
SIZE = float(os.environ.get("REHI_SOAK_SIZE", "1"))
FIRST = int(os.environ.get("REHI_SOAK_FIRST", "0"))
ONLY = os.environ.get("REHI_SOAK_DOOR", "")
SEED = int(os.environ.get("REHI_SOAK_SEED") or secrets.randbelow(1_000_000))
HANGS = 300  # seconds of one input, after which the search ends with a traceback


def all_doors(folder: Path) -> list[GrowthDoor]:
    return [*reading.doors(), *intake.doors(folder)]


def draw(doors: Sequence[GrowthDoor], *, seed: int, number: int) -> tuple[GrowthDoor, Shape]:
    """Return a door and a shape for it, by lot."""
    chance = Random(f"{seed} {number}")
    door = chance.choice(doors)
    return door, mutate(chance.choice(door.shapes), chance, door.shapes)


def search(doors: Sequence[GrowthDoor], *, seed: int, first: int, until: float) -> Iterator[Excess | GrowthDoor]:
    """Yield what was tried: a door, or what takes too long at one."""
    number = first
    while time.process_time() < until:
        door, shape = draw(doors, seed=seed, number=number)
        faulthandler.dump_traceback_later(HANGS, exit=True)
        try:
            excess = find_excess(door, shape, most=int(door.most * SIZE))
        except BaseException as error:
            raise AssertionError(f"{door.name}, REHI_SOAK_SEED={seed} REHI_SOAK_FIRST={number}: {shape}") from error
        finally:
            faulthandler.cancel_dump_traceback_later()
        if excess is not None:
            print(f"REHI_SOAK_SEED={seed} REHI_SOAK_FIRST={number}: {excess}\n    that is {shrink(excess)}", flush=True)
        yield excess or door
        number += 1


@pytest.mark.soak
def test_no_input_takes_time_out_of_proportion(tmp_path: Path) -> None:
    doors = [door for door in all_doors(tmp_path) if ONLY in door.name]
    print(
        f"\nseed {SEED}, {SECONDS:.0f} s, {len(doors)} doors; to repeat: REHI_SOAK_SEED={SEED} make soak NAME=growth",
        flush=True,
    )
    tried, found = Counter[str](), []
    for one in search(doors, seed=SEED, first=FIRST, until=time.process_time() + SECONDS):
        if isinstance(one, Excess):
            found.append(one)
        tried[one.door.name if isinstance(one, Excess) else one.name] += 1
    print(f"{tried.total():,} shapes, {len(found)} of them out of proportion; {dict(sorted(tried.items()))}")
    assert not found, "\n".join(map(str, found))


FOUND = {
    "html": [
        repeat("<div></b>"), repeat("<div></x></x>"), repeat("<p><b id={n}>"), repeat("<div><i id={n}>a</div>"),
        repeat("<table><b id={n}><tr><td>a</table>"), repeat("<p><font color={n}>a", "<table><p>"),
    ],
    "xml": [repeat(" a{n}='b'", before="<r", after="/>"), repeat(" a{n}='b'", before="<r><c", after="/>d</r>")],
    "compared xml": [pair(repeat(" a{n}='b'", before="<r", after="/>"), repeat(" a{n}='c'", before="<r", after="/>"))],
    "kept heads": [repeat(" a\r\n", before="HTTP/1.1 200 OK\r\na: b\r\n", after="\r\n")],
    "crawls": [repeat(" a\r\n", before="WARC/1.0\r\na: b\r\n")],
    "records": [repeat(" a\r\n", before="WARC/1.0\r\na: b\r\n")],
}  # fmt: skip
SLICE, SLICE_SEED, SLICE_SHARE = 60, 1, 8


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, GrowthDoor]:
    return {door.name: door for door in all_doors(tmp_path_factory.mktemp("growth"))}


@pytest.mark.parametrize(
    ("name", "shape"), [(name, shape) for name, shapes in FOUND.items() for shape in shapes], ids=str
)
def test_what_was_found_once_is_in_proportion(doors: dict[str, GrowthDoor], name: str, shape: Shape) -> None:
    assert find_excess(doors[name], shape, most=doors[name].most) is None


def test_a_few_dozen_shapes_of_an_eighth_of_the_size_are_in_proportion(doors: dict[str, GrowthDoor]) -> None:
    drawn = [draw(list(doors.values()), seed=SLICE_SEED, number=number) for number in range(SLICE)]
    assert len({door.name for door, _ in drawn}) > 20
    assert [
        excess for door, shape in drawn if (excess := find_excess(door, shape, most=door.most // SLICE_SHARE))
    ] == []


def _take_the_square(raw: bytes) -> None:
    for _ in range(raw.count(b"<") ** 2 // 40):
        pass


def test_the_square_is_found_and_what_is_in_proportion_is_not() -> None:
    door = GrowthDoor("slow", _take_the_square, (repeat("a"),), 100_000, floor=0.02)
    assert find_excess(door, repeat("a"), most=door.most) is None
    excess = find_excess(door, repeat("<a", before="b"), most=door.most)
    assert excess is not None
    assert shrink(excess).shape == repeat("<")


def test_the_seed_and_the_number_decide(doors: dict[str, GrowthDoor]) -> None:
    given = list(doors.values())
    drawn = [[str(draw(given, seed=seed, number=n)[1]) for n in range(50)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) > 40


def test_a_shape_has_any_size_and_numbers_where_they_are_wanted() -> None:
    shape = repeat("a{n} ", "b", before="<", after=">")
    assert shape.of(30) == b"<a0 a1 a2 a3 a4 bbbbb>"
    assert repeat("<b>", "</b>").of(14) == b"<b><b></b></b>"
    assert pair(repeat("a"), repeat("b")).of(4) == b"aa\x1ebb"
