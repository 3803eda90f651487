"""Sources take turns, and none brings more than it may."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from rehi.app import House, utc_now
from rehi.errors import SourceError
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Stage
from rehi.model.source import Source, SourceState
from rehi.operations.sources import enter, read_in
from rehi.settings import load_settings
from rehi.sources.lines import read_cursor
from rehi.sources.unpacked import _MOST_UNPACKED
from rehi.testing.waiting import wait_until

BATCH = 10


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehi.sources.lines.BATCH", BATCH)


def open_house(folder: Path, **intake: Any) -> House:
    return House(load_settings(data=folder / "data", intake=intake, work={"workers": 1, "graph": False}))


def enter_list(house: House, name: str, *, lines: int) -> Source:
    path = house.settings.data.parent / f"{name}.txt"
    path.write_text("".join(f"http://{name}.test/{number}\n" for number in range(lines)))
    return enter(house, str(path))


def names_of_batches(house: House) -> list[str]:
    """Whose batches were stored, one after the other."""
    rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=1000))
    hosts = [row.host.partition(".")[0] for row in sorted(rows, key=lambda row: row.resource_id)]
    assert len(hosts) % BATCH == 0
    batches = [hosts[start : start + BATCH] for start in range(0, len(hosts), BATCH)]
    return [name for batch in batches for name, _ in groupby(batch)]


def test_sources_take_turns_so_that_a_long_one_keeps_none_waiting(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        for name, batches in (("long", 6), ("middle", 2), ("short", 1)):
            source = enter_list(house, name, lines=batches * BATCH)
            house.catalogue.start_source(source.id, now=utc_now())
        with house.working() as harvest:
            wait_until(harvest._discoveries.discover, what="all sources are read")
        assert {source.state for source in house.catalogue.sources()} == {SourceState.DONE}
        assert names_of_batches(house) == ["long", "middle", "short", "long", "middle", "long", "long", "long", "long"]


def test_a_source_with_too_many_entries_stops_there_says_so_and_goes_on_when_it_may(tmp_path: Path) -> None:
    with open_house(tmp_path, max_entries=25) as house:
        source = enter_list(house, "long", lines=100)
        with pytest.raises(SourceError, match="more than 25 lines: 20 were taken in"):
            read_in(house, source.id)
        stopped = house.catalogue.source(source.id)
        assert (stopped.state, stopped.counts["lines"], stopped.cursor) == (SourceState.FAILED, 20, b"20")
        (problem,), _ = house.catalogue.problems(stage=Stage.SOURCES, page=Page())
        assert "raise intake.max_entries" in problem.message
        assert str(tmp_path) not in problem.message
        with pytest.raises(SourceError, match="20 were taken in"):
            read_in(house, source.id)
    with open_house(tmp_path, max_entries=100) as house:
        done = read_in(house, source.id)
        assert (done.state, done.counts["lines"], done.counts["accepted"]) == (SourceState.DONE, 100, 100)
        assert names_of_batches(house) == ["long"] * 10
        assert house.catalogue.problems(stage=Stage.SOURCES, page=Page())[1] == []


def test_the_default_bounds_what_a_small_gzip_may_bring(tmp_path: Path) -> None:
    most = load_settings(data=tmp_path).intake.max_entries
    assert most * len(b"http://a.ee/\n") < _MOST_UNPACKED  # of 40 million lines in 2.7 MB, the half at most


@pytest.mark.parametrize("cursor", [b"", b"x", b"-1", b"9" * 5_000, "٣".encode()])
def test_what_is_no_cursor_begins_at_the_beginning(cursor: bytes) -> None:
    assert read_cursor(cursor) == 0
