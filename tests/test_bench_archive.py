"""Tests of the archive and keep benchmarks in small."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from bench.archive import (
    CONTENT,
    FIXED,
    GIT,
    OURS,
    WAYS,
    ZSTD,
    Cost,
    Costs,
    judge,
    measure,
    measure_large,
    print_tables,
)
from bench.archive_histories import FEWEST, History, corpora_folder, generated_histories, real_histories
from bench.archive_ways import Way, as_visit
from bench.keep import FILES, SQLITE, WARCIO, WARCIO_DEFAULT, make_pages
from bench.keep import OURS as OURS_KEPT
from bench.keep import WAYS as WAYS_TO_KEEP
from bench.keep import judge as judge_keep
from bench.keep import measure as measure_keep
from bench.keep_ways import Warcio


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> list[History]:
    return generated_histories(tmp_path_factory.mktemp("generated"), megabytes=2)


def test_generated_histories_are_the_same_each_time(generated: list[History], tmp_path: Path) -> None:
    again = generated_histories(tmp_path / "again", megabytes=2)
    assert [[path.read_bytes() for path in history.versions] for history in again] == [
        [path.read_bytes() for path in history.versions] for history in generated
    ]


def test_no_two_versions_of_a_generated_history_are_alike(generated: list[History]) -> None:
    for history in generated:
        assert len(history.versions) >= FEWEST
        assert len({path.read_bytes() for path in history.versions}) == len(history.versions)


def test_real_histories_are_in_the_order_of_time(tmp_path: Path) -> None:
    corpora = corpora_folder()
    if not (corpora / "13-versions" / "content").is_dir():
        pytest.skip(f"no real histories in {corpora}; REHI_CORPORA names another place")
    for history in real_histories(tmp_path, corpora, most=5):
        assert list(history.times) == sorted(history.times)
        assert len(history.versions) == 5


def test_without_real_histories_there_are_none(tmp_path: Path) -> None:
    assert real_histories(tmp_path, tmp_path / "nowhere") == []


@pytest.fixture(scope="module")
def costs(generated: list[History], tmp_path_factory: pytest.TempPathFactory) -> Costs:
    """Every way on two small histories; each reads every version back and compares it."""
    if shutil.which("git") is None:
        pytest.skip("git is a peer of this benchmark, and is not installed")
    folder = tmp_path_factory.mktemp("ways")
    few = [replace(history, versions=history.versions[:6], times=history.times[:6]) for history in generated[:2]]
    return {h.name: {way: measure(make, h, folder / "store") for way, make in WAYS.items()} for h in few}


def test_every_way_gives_all_versions_back_and_is_measured(costs: Costs) -> None:
    for by_way in costs.values():
        assert set(by_way) == {OURS, ZSTD, FIXED, CONTENT, GIT}
        for cost in by_way.values():
            assert cost.stored > 0
            assert cost.write_cpu > 0
            assert cost.deepest_ms > 0


def test_git_is_charged_for_its_processes(costs: Costs) -> None:
    for by_way in costs.values():
        assert by_way[GIT].write_cpu > by_way[GIT].packing_cpu > 0


def test_the_tables_have_a_line_for_each_history_and_the_sums(
    generated: list[History], costs: Costs, capsys: pytest.CaptureFixture[str]
) -> None:
    histories = [history for history in generated if history.name in costs]
    print_tables(histories, costs)
    shown = capsys.readouterr().out
    for name in [*costs, "all generated"]:
        assert len([line for line in shown.splitlines() if line.startswith(f"{name} ")]) == 4
    assert "all real" not in shown


class ForgetfulWay:
    """A way that gives the wrong bytes back."""

    packing_cpu = 0.0

    def __init__(self, folder: Path) -> None:
        self._cpu = 0.0

    def write(self, version: object) -> None:
        self._cpu += 1.0

    def sync(self) -> None: ...

    def finish(self) -> None: ...

    def stored(self) -> int:
        return 1

    def read(self, number: int) -> bytes:
        return b"something else"

    def cpu(self) -> float:
        return self._cpu


def test_a_way_that_gives_other_bytes_back_is_found_out(generated: list[History], tmp_path: Path) -> None:
    make: Callable[[Path], Way] = ForgetfulWay
    with pytest.raises(RuntimeError, match=r"version 0 of register-small\.csv"):
        measure(make, generated[0], tmp_path / "store")


GOOD = {
    OURS: Cost(size=10**7, stored=1_000, write_cpu=1.0, deepest_ms=9.0),
    ZSTD: Cost(size=10**7, stored=5_000, write_cpu=1.0),
    FIXED: Cost(size=10**7, stored=4_000, write_cpu=1.0),
    CONTENT: Cost(size=10**7, stored=2_000, write_cpu=1.0),
    GIT: Cost(size=10**7, stored=500, write_cpu=10.0, packing_cpu=5.0),
}
MEMORY = {"megabytes": 100.0, "keep_mb": 599.0, "read_mb": 599.0}


@pytest.mark.parametrize(
    ("way", "change"),
    [
        (ZSTD, {"stored": 4_999}),
        (GIT, {"stored": 499}),
        (GIT, {"write_cpu": 9.9}),
        (OURS, {"deepest_ms": 10.1}),
    ],
    ids=["zstd", "git on disk", "git to write", "deepest"],
)
def test_each_part_of_the_target_is_asked_for(way: str, change: dict[str, float], generated: list[History]) -> None:
    small = [replace(generated[0], name="one", largest=900_000)]
    assert judge(small, {"one": GOOD}, MEMORY).ok
    bad = {**GOOD, way: replace(GOOD[way], **change)}  # type: ignore[arg-type]
    assert not judge(small, {"one": bad}, MEMORY).ok


@pytest.mark.parametrize("step", ["keep_mb", "read_mb"])
def test_too_much_memory_for_the_large_file_misses_the_target(step: str, generated: list[History]) -> None:
    small = [replace(generated[0], name="one", largest=900_000)]
    assert not judge(small, {"one": GOOD}, {**MEMORY, step: 600.0}).ok


def test_how_long_a_large_file_takes_is_no_part_of_the_target(generated: list[History]) -> None:
    large = [replace(generated[0], name="one", largest=1_000_000)]
    slow = {**GOOD, OURS: replace(GOOD[OURS], deepest_ms=50.0)}
    assert judge(large, {"one": slow}, MEMORY).ok


def test_the_last_line_of_the_archive_benchmark_is_for_programs(generated: list[History]) -> None:
    line = judge([replace(generated[0], name="one")], {"one": GOOD}, MEMORY).line()
    word, name, numbers = line.split(" ", 2)
    assert (word, name) == ("RESULT", "archive")
    assert json.loads(numbers).keys() >= {"ok", "target", "settings", "missed", "ours", "peers", "ratio"}
    assert json.loads(numbers)["ratio"]["generated, write CPU, git gc alone"] == 5.0
    assert "no real histories" in json.loads(numbers)["settings"]


def test_real_histories_are_judged_by_themselves(generated: list[History]) -> None:
    large = replace(generated[0], name="large")
    real = replace(generated[1], name="small", group="real")
    poor = {**GOOD, GIT: replace(GOOD[GIT], write_cpu=0.01)}
    judged = judge(
        [large, real],
        {"large": {w: replace(c, write_cpu=c.write_cpu * 1000) for w, c in GOOD.items()}, "small": poor},
        MEMORY,
    )
    assert not judged.ok
    assert [part.partition(":")[0] for part in judged.missed] == ["real"], (
        "a thousand times as much of the other kind hides nothing"
    )


def test_a_large_file_is_kept_and_read_back_in_processes_of_their_own(tmp_path: Path) -> None:
    numbers = measure_large(tmp_path / "large", 3)
    assert 10 < numbers["keep_mb"] < 600
    assert 10 < numbers["read_mb"] < 600
    assert 0.3 < numbers["stored_mb"] < 3, "the second version takes next to nothing"
    assert not (tmp_path / "large").exists()


def test_pages_are_small_and_always_the_same() -> None:
    pages = list(islice(make_pages(), 100))
    assert [page.body for page in pages] == [page.body for page in islice(make_pages(), 100)]
    assert len({page.body for page in pages}) == 100
    assert 1_900 < min(len(page.body) for page in pages) < 4_000
    assert 40_000 < max(len(page.body) for page in pages) < 62_000


def test_every_way_keeps_every_page_at_equal_compression(tmp_path: Path) -> None:
    pages = list(islice(make_pages(), 60))
    size = sum(len(page.body) for page in pages) / 1e6
    stored = {}
    for way, make in WAYS_TO_KEEP.items():
        numbers = measure_keep(make, pages, tmp_path / "store")
        assert numbers["objects_per_second"] > 0, way
        stored[way] = numbers["stored_mb"]
    assert list(tmp_path.iterdir()) == []
    assert stored[WARCIO_DEFAULT] < stored[WARCIO], "zlib at level 9 is another compression"
    for way in (OURS_KEPT, WARCIO, FILES, SQLITE):
        assert 0.2 * size < stored[way] < 0.5 * size, way


def test_warcio_writes_with_our_compressor_what_every_reader_can_read(tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator

    page = next(make_pages())
    keeper = Warcio(tmp_path / "store")
    with as_visit(page) as visit:
        keeper.keep([visit])
    keeper.close()
    with (tmp_path / "store" / "objects.warc.gz").open("rb") as file:
        records = [
            (record.rec_type, record.rec_headers.get_header("WARC-Payload-Digest"), record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, _, _ in records] == ["response", "request"]
    assert records[0][1].startswith("sha256:")
    assert records[0][2] == page.body


def test_keeping_must_be_three_times_as_fast_as_files_and_as_warcio_and_as_fast_as_sqlite() -> None:
    def numbers(speed: float) -> dict[str, float]:
        return {"objects_per_second": speed, "cpu_ms": 1.0, "stored_mb": 1.0}

    peers = {FILES: 100.0, SQLITE: 300.0, WARCIO: 100.0, WARCIO_DEFAULT: 900.0}
    good = {OURS_KEPT: numbers(300), **{way: numbers(speed) for way, speed in peers.items()}}
    assert judge_keep(good).ok, "warcio at its own level is shown, and asks for nothing"
    assert judge_keep(good).ratio == pytest.approx(
        {FILES: 3.0, SQLITE: 1.0, WARCIO: 3.0, WARCIO_DEFAULT: 0.33, **{f"CPU, {way}": 1.0 for way in peers}}
    )
    for way in (FILES, SQLITE, WARCIO):
        judged = judge_keep({**good, way: numbers(peers[way] + 1)})
        assert not judged.ok
        assert way in judged.missed[0]
