"""The intake counts every entry, and keeps what came before a source broke off."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rehi.engines.sql import open_catalogue
from rehi.errors import SourceError
from rehi.model.source import Source
from rehi.ports import Catalogue
from rehi.sources import Discovered, Fetched
from rehi.sources.crawl_log import KIND
from rehi.sources.intake import PROBLEMS_SHOWN, take_in

NOW = datetime(2026, 3, 2, tzinfo=UTC)


class Here:
    """Opens files, and has none of what lies at a URL."""

    spool = Path("/nowhere")
    max_bytes = 1

    def clock(self) -> datetime:
        return NOW

    @contextmanager
    def __call__(self, place: str) -> Iterator[Fetched]:
        yield Fetched(Path(place), Path(place).stat().st_size)


def line(url: str) -> str:
    return f"2026-03-02T08:00:00.000Z 200 10 {url} L http://a.test/ text/html #001 20260302080000000+1 sha1:A - -\n"


def enter(catalogue: Catalogue, log: Path) -> Source:
    return catalogue.add_source(kind="crawl-log", name=log.name, location=str(log), size=1, now=NOW)


def discover(source: Source) -> Iterator[Discovered]:
    return KIND.discover(source, source.cursor, Here())


def test_a_log_that_breaks_off_gives_what_it_holds_and_says_so(tmp_path: Path) -> None:
    whole = gzip.compress("".join(line(f"http://a.test/{n}") for n in range(5000)).encode())
    log = tmp_path / "cut.log.gz"
    log.write_bytes(whole[: len(whole) // 2])
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/c.db")
    source = enter(catalogue, log)
    with pytest.raises(SourceError):
        list(take_in(source, discover(source), catalogue, clock=lambda: NOW))
    kept = catalogue.source(source.id)
    assert kept.counts["accepted"] == kept.counts["lines"] == int(kept.cursor) > 500
    assert catalogue.totals(now=NOW).resources == kept.counts["accepted"]
    catalogue.close()


def test_a_stopped_intake_goes_on_where_it_stood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehi.sources.lines.BATCH", 100)
    log = tmp_path / "whole.log"
    log.write_text("".join(line(f"http://a.test/{n % 700}") for n in range(1000)), encoding="utf-8")
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/c.db")
    source = enter(catalogue, log)
    (share,) = take_in(source, discover(source), catalogue, clock=lambda: NOW, cancelled=lambda: True)
    source = catalogue.source(source.id)
    assert (source.cursor, source.share) == (b"100", share)
    list(take_in(source, discover(source), catalogue, clock=lambda: NOW))
    done = catalogue.source(source.id)
    assert (done.counts["lines"], done.counts["accepted"], done.cursor, done.share) == (1000, 1000, b"1000", 1.0)
    assert catalogue.totals(now=NOW).resources == 700
    catalogue.close()


def test_malformed_lines_are_all_counted_and_the_first_are_shown(tmp_path: Path) -> None:
    log = tmp_path / "bad.log"
    log.write_text(line("http://a.test/") + "what is this\n" * 500, encoding="utf-8")
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/c.db")
    source = enter(catalogue, log)
    list(take_in(source, discover(source), catalogue, clock=lambda: NOW))
    assert catalogue.source(source.id).counts["malformed"] == 500
    assert catalogue.totals(now=NOW).problems == PROBLEMS_SHOWN
    catalogue.close()
