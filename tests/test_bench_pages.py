"""The parts of the pages benchmark over a house of its own; the peer where its environment is there."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bench.pages import (
    CLIENTS,
    DOCUMENTS,
    JSON_KIND,
    MIX,
    fill,
    judge,
    measure_both,
    name_measurement,
    percentile,
    summarise,
    targets_of,
)
from bench.pages_datasette import write_peer
from bench.pages_house import SEVERAL, house_settings, page_urls
from bench.pages_load import press
from rehi.app import House, utc_now
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.documents import get_document
from tests.conftest import run_coroutine

PAGES = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small house."""
    folder = tmp_path_factory.mktemp("pages")
    fill(folder / "data", PAGES)
    return folder


@pytest.fixture
def house(folder: Path) -> Iterator[House]:
    with House(house_settings(folder / "data")) as house:
        yield house


def test_every_page_is_read_linked_and_described_by_nobody(house: House) -> None:
    totals = house.catalogue.totals(now=utc_now())
    assert totals.documents == totals.resources == PAGES
    assert (totals.waiting, totals.to_read, totals.to_describe, totals.problems) == (0, 0, 0, 0)
    assert totals.versions > PAGES
    assert totals.languages.keys() == {"et", "en"}
    first, *_ = page_urls(PAGES)
    number = house.catalogue.document(first).resource_id
    details = get_document(house, document_id=number)
    assert len(details.versions) > 1
    reading = house.reading(number)
    assert sum(name.count for name in details.names) == len(reading.mentions) > 0
    for mention in reading.mentions:
        assert reading.document.text[mention.start : mention.end] == mention.surface
    assert len(house.catalogue.versions(first)) == len(details.versions)
    assert SEVERAL < PAGES


def test_the_peer_has_the_same_rows(house: House, tmp_path: Path) -> None:
    assert write_peer(house, tmp_path / "house.db") == PAGES
    rows, total = house.catalogue.documents(DocumentFilter(text="leht-1"), Page(limit=PAGES))
    with closing(sqlite3.connect(tmp_path / "house.db")) as peer:
        found = peer.execute("SELECT id, documents.url, documents.title FROM documents_fts JOIN documents ON id = documents_fts.rowid"
                             " WHERE documents_fts MATCH '\"leht-1\"' ORDER BY documents.url").fetchall()  # fmt: skip
        ((texts,),) = peer.execute("SELECT count(*) FROM pages WHERE length(text) > 0 AND names <> ''")
        ((versions,),) = peer.execute("SELECT count(*) FROM versions")
    assert found == [(row.resource_id, row.url, row.title) for row in rows]
    assert total == len(rows) > 0
    assert texts == PAGES
    assert versions == house.catalogue.totals(now=utc_now()).versions


def test_both_are_asked_for_the_same_kinds_equally_often(house: House) -> None:
    ours, peers = targets_of(house)
    assert Counter(kind for kind, _, _ in ours) == Counter(kind for kind, _, _ in peers)


class _Doorman(BaseHTTPRequestHandler):
    """Refuses each path the first time, and says when to come again."""

    protocol_version = "HTTP/1.1"
    seen: Counter[str]

    def do_GET(self) -> None:
        self.seen[self.path] += 1
        status, body = (503, b"") if self.seen[self.path] == 1 else (200, b"tere")
        self.send_response(404 if self.path == "/nothing" else status)
        if status == 503:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_clients_tell_answers_from_refusals_and_failures() -> None:
    handler = type("Doorman", (_Doorman,), {"seen": Counter()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        lines = ['["page", "/page", "*/*"]', '["nothing", "/nothing", "*/*"]']
        seen = run_coroutine(press(address, 1, 1.0, lines))
        server.shutdown()
    assert len(seen["refused"]["page"]) == 1
    assert len(seen["answered"]["page"]) == len(seen["waited"]["page"]) > 0
    assert seen["failed"]["nothing: 404"] > 0
    assert "nothing" not in seen["answered"]
    numbers = summarise(seen, cpu=0.5)
    assert numbers["answers"] == len(seen["answered"]["page"])
    assert numbers["refused"] == 1
    assert numbers["longest_ms"] >= numbers["p50_ms"] > 0


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile([], 0.5) == 0
    assert percentile([1.0], 0.99) == 1
    assert [percentile([1.0, 2.0, 3.0, 4.0], share) for share in (0.0, 0.5, 0.99, 1.0)] == [1, 3, 4, 4]


def numbers(**changed: float) -> dict[str, float]:
    good = {
        "answers": 100.0, "p50_of_slowest_kind_ms": 900.0, "longest_ms": 4_000.0, "refused_longest_ms": 900.0,
        "failed": 0.0, "cpu_ms": 1.0,
    }  # fmt: skip
    return good | changed


def test_each_part_of_the_target_can_be_missed() -> None:
    alone, crowd = name_measurement(JSON_KIND, 1), name_measurement(MIX, CLIENTS[-1])
    peer = {alone: numbers(cpu_ms=1.0)}
    assert judge(DOCUMENTS, {alone: numbers(), crowd: numbers()}, peer).ok
    assert judge(DOCUMENTS, {alone: numbers(longest_ms=9_000.0), crowd: numbers()}, peer).ok, "only crowds count"
    for worse in (
        {crowd: numbers(p50_of_slowest_kind_ms=1_001.0)},
        {crowd: numbers(longest_ms=5_001.0)},
        {crowd: numbers(refused_longest_ms=1_001.0)},
        {crowd: numbers(failed=1.0)},
        {crowd: numbers(answers=0.0)},
        {alone: numbers(cpu_ms=1.01)},
    ):
        judged = judge(DOCUMENTS, {alone: numbers(), crowd: numbers(), **worse}, peer)
        assert len(judged.missed) == 1, worse
    assert not judge(DOCUMENTS - 1, {alone: numbers(), crowd: numbers()}, peer).ok, "a small house is no proof"


def test_we_and_the_peer_are_measured_alike(folder: Path) -> None:
    """Datasette where it is; without it, us alone: real processes over real HTTP."""
    place = os.environ.get("REHI_DATASETTE", str(Path(__file__).parents[1] / ".venv-datasette" / "bin"))
    python = Path(place) / "python"
    result = measure_both(folder, python if python.exists() else None, 0.05)
    measured = [name for name in result.ours if name != "documents"]
    assert len(measured) == len(set(measured)) == len(CLIENTS) * 9
    assert not [part for part in result.missed if "failed" in part or "nothing was answered" in part]
    if python.exists():
        assert len(result.peers) == len(measured)
