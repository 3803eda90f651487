"""The intake counts every line, and keeps what came before a source broke off."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rehi.engines.sql import open_catalogue
from rehi.errors import SourceError
from rehi.model.source import SourceKind
from rehi.sources import intake, open_lines, read_source
from rehi.sources.intake import MALFORMED_KEPT, take_in

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def line(url: str) -> str:
    return f"2026-03-02T08:00:00.000Z 200 10 {url} L http://a.test/ text/html #001 20260302080000000+1 sha1:A - -\n"


def test_a_log_that_breaks_off_gives_what_it_holds_and_says_so(tmp_path: Path) -> None:
    whole = gzip.compress("".join(line(f"http://a.test/{n}") for n in range(5000)).encode())
    log = tmp_path / "cut.log.gz"
    log.write_bytes(whole[: len(whole) // 2])
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/c.db")
    source = catalogue.add_source(kind=SourceKind.CRAWL_LOG, name="cut", location=str(log), size=1, now=NOW)
    with open_lines(log) as lines, pytest.raises(SourceError):
        list(take_in(source, read_source(source.kind, lines), catalogue, clock=lambda: NOW))
    kept = catalogue.source(source.id)
    assert kept.counts["accepted"] == kept.counts["lines"] > 500
    assert catalogue.totals(now=NOW).resources == kept.counts["accepted"]
    catalogue.close()


def test_a_stopped_intake_goes_on_where_it_stood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BATCH", 100)
    log = tmp_path / "whole.log"
    log.write_text("".join(line(f"http://a.test/{n % 700}") for n in range(1000)), encoding="utf-8")
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/c.db")
    source = catalogue.add_source(kind=SourceKind.CRAWL_LOG, name="whole", location=str(log), size=1, now=NOW)
    with open_lines(log) as lines:
        findings = read_source(source.kind, lines)
        positions = list(take_in(source, findings, catalogue, clock=lambda: NOW, cancelled=lambda: True))
    assert positions == [100]
    source = catalogue.source(source.id)
    with open_lines(log) as lines:
        findings = read_source(source.kind, lines, start=source.position)
        list(take_in(source, findings, catalogue, clock=lambda: NOW))
    counts = catalogue.source(source.id).counts
    assert (counts["lines"], counts["accepted"]) == (1000, 1000)
    assert catalogue.totals(now=NOW).resources == 700
    catalogue.close()


def test_malformed_lines_are_all_counted_and_the_first_are_shown(tmp_path: Path) -> None:
    log = tmp_path / "bad.log"
    log.write_text(line("http://a.test/") + "what is this\n" * 500, encoding="utf-8")
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/c.db")
    source = catalogue.add_source(kind=SourceKind.CRAWL_LOG, name="bad", location=str(log), size=1, now=NOW)
    with open_lines(log) as lines:
        list(take_in(source, read_source(source.kind, lines), catalogue, clock=lambda: NOW))
    assert catalogue.source(source.id).counts["malformed"] == 500
    assert catalogue.totals(now=NOW).problems == MALFORMED_KEPT
    catalogue.close()
