"""Hostile inputs at all doors: each ends in an answer or in an error of ours with a sentence, soon, and leaves nothing behind.

Run by ``make soak NAME=doors``. ``REHI_SOAK_INPUTS`` (100,000) and ``REHI_SOAK_SEED`` (drawn by lot) may be set. The seed is printed,
and every input draws from the seed and its number alone: ``REHI_SOAK_FIRST`` begins with another number than 0.
"""

from __future__ import annotations

import faulthandler
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from rehi.errors import RehiError
from rehi.testing.waiting import PATIENCE
from tests.doors.inward_doors import Door, inward_doors
from tests.doors.mutation import mutate, mutate_value
from tests.doors.served_doors import served_doors
from tests.test_soak import resident_mb

INPUTS = int(os.environ.get("REHI_SOAK_INPUTS", "100000"))
FIRST = int(os.environ.get("REHI_SOAK_FIRST", "0"))
SEED = int(os.environ.get("REHI_SOAK_SEED") or secrets.randbelow(1_000_000))
SLICE, SLICE_SEED = 400, 1
GROWTH_MB = 150
LONGEST = PATIENCE / 2  # seconds for one input, on a machine however busy; most take milliseconds
SHARES = {"sparql": 2, "uploads": 2, "answers": 3, "documents": 6}  # of the others 4


@contextmanager
def all_doors(folder: Path) -> Iterator[Sequence[Door]]:
    with served_doors(folder / "served") as served:
        yield [*served, *inward_doors(folder / "inward")]


def attack(doors: Sequence[Door], *, seed: int, numbers: range, folder: Path) -> Counter[str]:
    """Send inputs, and return what became of them; AssertionError with the first that did harm.

    The input is in a file while it is tried: one that hangs ends this process, with its traceback.
    """
    counts, last = Counter[str](), folder / "input.bin"
    shares = [SHARES.get(door.name, 4) for door in doors]
    for number in numbers:
        chance = Random(f"{seed} {number}")
        door = chance.choices(doors, weights=shares)[0]
        raw = door.draw(chance)
        last.write_bytes(raw)
        faulthandler.dump_traceback_later(2 * LONGEST, exit=True)
        began = time.monotonic()
        try:
            outcome = door.send(raw)
        except RehiError as error:
            outcome = error.code if str(error).strip() else "no sentence"
        except BaseException as error:
            raise AssertionError(f"{type(error).__name__}: {error}: {_place(seed, number, door, raw)}") from error
        finally:
            faulthandler.cancel_dump_traceback_later()
        took = time.monotonic() - began
        assert outcome != "no sentence", f"an error says nothing: {_place(seed, number, door, raw)}"
        assert took < LONGEST, f"it took {took:.0f} s: {_place(seed, number, door, raw)}"
        counts[f"{door.name}: {outcome}"] += 1
    return counts


def _place(seed: int, number: int, door: Door, raw: bytes) -> str:
    return f"{door.name}, REHI_SOAK_SEED={seed} REHI_SOAK_FIRST={number}: {raw[:300]!r}"


def by_door(counts: Counter[str]) -> Counter[str]:
    inputs = Counter[str]()
    for name, count in counts.items():
        inputs[name.partition(":")[0]] += count
    return inputs


def test_a_few_hundred_hostile_inputs_do_no_harm(tmp_path: Path) -> None:
    with all_doors(tmp_path) as doors:
        counts = attack(doors, seed=SLICE_SEED, numbers=range(SLICE), folder=tmp_path)
    assert set(by_door(counts)) == {door.name for door in doors}
    assert counts["sparql: 2xx"]
    assert counts["requests: 2xx"]
    assert len(counts) > 30  # many ends, and not one for all


@pytest.mark.soak
def test_a_hundred_thousand_hostile_inputs_at_all_doors(tmp_path: Path) -> None:
    print(f"\nseed {SEED}, {INPUTS:,} inputs; to repeat: make soak NAME=doors, with REHI_SOAK_SEED={SEED}", flush=True)
    began = time.monotonic()
    with all_doors(tmp_path) as doors:
        warm = min(INPUTS // 10, 3_000)
        counts = attack(doors, seed=SEED, numbers=range(FIRST, FIRST + warm), folder=tmp_path)  # caches fill up
        before = resident_mb()
        counts += attack(doors, seed=SEED, numbers=range(FIRST + warm, FIRST + INPUTS), folder=tmp_path)
        growth = resident_mb() - before
    print(f"{counts.total():,} inputs in {time.monotonic() - began:.0f} s, {growth:+.0f} MB; {dict(by_door(counts))}")
    for outcome, count in sorted(counts.items()):
        print(f"{count:8,} {outcome}")
    assert growth < GROWTH_MB


def test_the_seed_and_the_number_decide() -> None:
    samples = (b"Tere, ilus ilm.", b"<p>")
    drawn = [[mutate(samples[0], Random(f"{seed} {n}"), samples) for n in range(50)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) > 40
    values = [mutate_value({"a": [5, {"b": "c"}]}, Random(n)) for n in range(50)]
    assert all(value != {"a": [5, {"b": "c"}]} for value in values)
