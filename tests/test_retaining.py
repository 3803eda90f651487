"""Retention: what the rules let go, what stays whatever they say, and what a kill, a rebuild or a visit makes of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from rehi.app import House, lock_folder, utc_now
from rehi.errors import BodyPruned, DataFolderBusy, NotFound, RecordDamaged
from rehi.model.source import Source
from rehi.model.version import Version
from rehi.operations.compaction import compact_archive
from rehi.operations.reindex import reindex, set_catalogue_aside
from rehi.operations.retention import order_keep, plan_prune, prune
from rehi.operations.sources import enter, read_in
from rehi.operations.updates import make_due
from rehi.operations.versions import open_version
from rehi.service import Service
from rehi.settings import Settings, load_settings
from rehi.testing.contracts.catalogue_samples import claim, record_reads, understood
from rehi.testing.waiting import PATIENCE, wait_until
from tests.keeper import Keeper, at

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with House(load_settings(data=tmp_path / "data")) as opened:
        yield opened


def source_of(house: House, name: str, *urls: str, keep: str = "") -> Source:
    """A source with these URLs, and its rule."""
    path = house.settings.data / name
    path.write_text("".join(f"{url}\n" for url in urls), encoding="ascii")
    source = read_in(house, enter(house, str(path)).id)
    return order_keep(house, source.id, keep)


def fill(house: House, histories: dict[str, list[bytes]], *, file_bytes: int = 10**9) -> None:
    """Versions of pages, a day apart, in the order of time."""
    keeper = Keeper(house, file_bytes=file_bytes)
    for number in range(max(map(len, histories.values()))):
        for place, (url, bodies) in enumerate(histories.items()):
            if number < len(bodies):
                keeper.new(url, bodies[number], at(number + place / 100))
    keeper.seal()
    keeper.close()


def read_all(house: House) -> None:
    """Say that all that waits was read."""
    while tasks := claim(house.catalogue, 10**9, worker=house.worker):
        record_reads(house.catalogue, *map(understood, tasks), when=99)


def body(number: int) -> bytes:
    return f"<p>version {number}</p>".encode() * 50


def states(house: House, url: str) -> list[bool]:
    return [version.dropped for version in house.catalogue.versions(url)]


def bytes_of(house: House, version: Version) -> bytes:
    with open_version(house, version) as stream:
        return stream.read()


def test_a_rule_drops_the_old_ones_and_the_rest_is_as_it_was(house: House) -> None:
    source = source_of(house, "list", A, B, keep="last 2")
    fill(house, {A: [body(n) for n in range(5)], B: [body(10)]})
    read_all(house)
    plan = plan_prune(house)
    assert [(one.name, one.rule, one.versions, one.bodies, one.size) for one in plan.shares] == [
        ("list", "last 2", 3, 3, 3 * len(body(0)))
    ]
    assert states(house, A) == [False] * 5
    done = prune(house)
    assert (done.versions, done.bodies, done.size) == (plan.versions, plan.bodies, plan.size)
    assert (states(house, A), states(house, B)) == ([True, True, True, False, False], [False])
    assert [bytes_of(house, one) for one in house.catalogue.versions(A)[3:]] == [body(3), body(4)]
    with pytest.raises(BodyPruned, match=r"version 1 were dropped on 20\d\d-\d\d-\d\d by the rule 'last 2'"):
        bytes_of(house, house.catalogue.versions(A)[0])
    assert prune(house).bodies == 0
    assert source.keep == "last 2"


def test_nothing_goes_without_a_rule_and_nothing_that_waits_to_be_read(house: House) -> None:
    source = source_of(house, "list", A)
    fill(house, {A: [body(n) for n in range(3)]})
    assert prune(house).shares == ()
    order_keep(house, source.id, "last 1")
    assert prune(house).versions == 0
    read_all(house)
    assert prune(house).versions == 2
    with pytest.raises(NotFound):
        plan_prune(house, source_id=99)


def test_bytes_that_another_version_keeps_stay(house: House) -> None:
    one, two = source_of(house, "one", A, B, keep="last 1"), source_of(house, "two", C)
    shared, own = body(0), body(1)
    fill(house, {A: [shared, own, body(2)], B: [shared, body(3)], C: [body(4), shared, body(5)]})
    read_all(house)
    assert prune(house).bodies == 1
    assert states(house, A) == [False, True, False]
    order_keep(house, two.id, "last 1")
    plan = plan_prune(house, source_id=one.id)
    assert (plan.bodies, plan.versions, len(plan.shares)) == (1, 2, 1)
    done = prune(house)
    assert [(share.name, share.versions, share.bodies) for share in done.shares] == [("one", 2, 1), ("two", 2, 1)]
    assert (states(house, A), states(house, B), states(house, C)) == (
        [True, True, False],
        [True, False],
        [True, True, False],
    )


def test_the_newest_version_of_another_page_keeps_the_bytes_of_all(house: House) -> None:
    source_of(house, "list", A, B, keep="last 1")
    fill(house, {A: [body(0), body(1)], B: [body(0)]})
    read_all(house)
    assert prune(house).bodies == 0


def test_bytes_that_very_many_pages_share_are_decided_on_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehi.operations.retention.RESOURCES", 2)
    pages = [f"http://{letter}.test/" for letter in "abcdefg"]
    source_of(house, "list", *pages[:6], keep="last 1")
    other = source_of(house, "other", pages[6])
    fill(house, {url: [body(0), body(n)] for n, url in enumerate(pages, 1)})
    read_all(house)
    assert prune(house).bodies == 0
    order_keep(house, other.id, "last 1")
    done = prune(house)
    assert [(share.versions, share.bodies) for share in done.shares] == [(6, 1), (1, 0)]


def test_only_references_stay_of_what_was_read(house: House) -> None:
    source_of(house, "list", A, B, keep="references")
    fill(house, {A: [body(0), body(1)]})
    read_all(house)
    fill(house, {B: [body(2)]})
    assert prune(house).versions == 2
    assert (states(house, A), states(house, B)) == ([True, True], [False])
    row = house.catalogue.document(A)
    assert (row.title, row.versions) == ("A title", 2)
    assert house.catalogue.shown_reading(row.resource_id).facts.derived is not None


def test_somebody_else_may_harvest_meanwhile_but_not_prune(house: House) -> None:
    source_of(house, "list", A, keep="last 1")
    fill(house, {A: [body(0), body(1)]})
    read_all(house)
    with lock_folder(house.settings.data, name="prune.lock"), pytest.raises(DataFolderBusy):
        prune(house)
    with lock_folder(house.settings.data):
        assert prune(house).versions == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from rehi.app import House
from rehi.archive import tombstone
from rehi.operations.retention import prune
from rehi.settings import load_settings

tombstone.LARGEST = 2_000  # lists of a few bodies each, so that there are several
with House(load_settings(data=Path(sys.argv[1]))) as house:
    prune(house, on_progress=lambda done: done and os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_prune_that_was_killed_is_finished_by_the_next(house: House) -> None:
    source_of(house, "list", A, keep="last 1")
    fill(house, {A: [body(n) for n in range(30)]})
    read_all(house)
    words = [sys.executable, "-c", KILLED, str(house.settings.data)]
    assert subprocess.run(words, check=False, timeout=PATIENCE).returncode == -signal.SIGKILL
    marked = sum(states(house, A))
    assert 0 < marked < 29
    assert bytes_of(house, house.catalogue.versions(A)[-1]) == body(29)
    plan = plan_prune(house)
    assert (plan.unfinished, plan.bodies) == (1, 29 - marked)
    order_keep(house, 1, "")  # what was decided then holds, whatever the rule says by now
    done = prune(house)
    assert (done.finished, done.bodies) == (29 - marked, 0)
    assert states(house, A) == [True] * 29 + [False]
    assert plan_prune(house).unfinished == 0


def test_a_catalogue_made_anew_from_the_files_drops_the_same_before_and_after_compaction(house: House) -> None:
    source_of(house, "list", A, B, C, keep="last 1")
    fill(house, {A: [body(n) for n in range(4)], B: [body(0), body(9)], C: [body(1), body(2), body(20)]}, file_bytes=1)
    read_all(house)
    assert prune(house).versions == 6
    keeper = Keeper(house)
    keeper.new(C, body(1), at(50))  # bytes that come again are not dropped any more
    keeper.close()
    settings = house.settings
    for compacted in (False, True):
        with House(settings) as before:
            if compacted:
                assert compact_archive(before).done.bodies > 0
            expected = {url: states(before, url) for url in (A, B, C)}
            assert sum(map(sum, expected.values())) == 4
        with House(settings) as aside:
            set_catalogue_aside(aside)
        with House(settings) as anew:
            assert reindex(anew).versions == 10
            assert {url: states(anew, url) for url in (A, B, C)} == expected
            kept = [one for url in (A, B, C) for one in anew.catalogue.versions(url) if not one.dropped]
            assert {bytes_of(anew, one) for one in kept} == {body(n) for n in (1, 3, 9, 20)}


def test_tombstones_are_plain_warc_and_say_what_went(house: House) -> None:
    source_of(house, "list", A, keep="last 1")
    fill(house, {A: [body(0), body(1)]})
    read_all(house)
    prune(house)
    (path,) = house.archive_folder.glob("dropped-*.warc.gz")
    with path.open("rb") as stream:
        kinds = []
        for record in ArchiveIterator(stream, check_digests="raise"):
            kinds.append(record.rec_type)
            block = record.content_stream().read().decode()
    assert kinds == ["warcinfo", "metadata"]
    first = house.catalogue.versions(A)[0]
    for said in (first.digest, A, '"rule":"last 1"', f'"file":"{first.record.file}"', '"versions":1'):
        assert said in block


def test_a_damaged_tombstone_is_named_and_drops_nothing(house: House) -> None:
    source_of(house, "list", A, keep="last 1")
    fill(house, {A: [body(0), body(1)]})
    read_all(house)
    torn = house.archive_folder / "dropped-20260101000000-x-00001.warc.gz"
    torn.write_bytes(b"\x1f\x8b\x08 no record at all")
    with pytest.raises(RecordDamaged, match=torn.name):
        prune(house)
    assert states(house, A) == [False, False]


class TaggedSite:
    """Pages that say 304 if they can: one with an ETag, one without."""

    def __init__(self) -> None:
        self.text, self.asked = b"<p>Katrin Paio elab Tartus.</p>", list[tuple[str, int]]()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                known = self.path == "/tagged" and self.headers.get("If-None-Match") == site.tag
                answer = b"" if known else site.text + self.path.encode()
                self.send_response(404 if self.path == "/robots.txt" else 304 if known else 200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                if self.path == "/tagged":
                    self.send_header("ETag", site.tag)
                if not known:
                    self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
                if self.path in ("/tagged", "/plain"):
                    site.asked.append((self.path, 304 if known else 200))

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def tag(self) -> str:
        return f'"{hash(self.text) & 0xFFFF}"'


@pytest.fixture
def site() -> Iterator[TaggedSite]:
    made = TaggedSite()
    made.thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    made.thread.join()


def visit_all(house: House) -> None:
    """Have both pages visited now, and read."""
    before = house.catalogue.totals(now=utc_now()).visits
    make_due(house)

    def done() -> bool:
        totals = house.catalogue.totals(now=utc_now())
        return totals.visits >= before + 2 and not totals.to_read

    wait_until(done, what="both pages are visited and read")


def records(settings: Settings) -> int:
    """How many answers lie in the archive."""
    count = 0
    for path in sorted((settings.data / "archive").glob("rehi-*.warc.gz")):
        with path.open("rb") as stream:
            count += sum(record.rec_type != "request" for record in ArchiveIterator(stream))
    return count


def test_pages_of_which_only_references_are_kept_are_visited_without_bytes_until_they_change(
    tmp_path: Path, site: TaggedSite
) -> None:
    fetch = {"allow_private": ["127.0.0.0/8"], "ports": [80, 443, site.server.server_port], "delay": 0.0}
    settings = load_settings(data=tmp_path / "data", fetch=fetch, work={"workers": 1, "enrich": False})
    pages = [f"{site.origin}/tagged", f"{site.origin}/plain"]
    with House(settings) as house:
        source = source_of(house, "list", *pages, keep="references")
        service = Service(house)
        service.start()
        try:
            visit_all(house)
            assert prune(house).versions == 2
            assert [states(house, url) for url in pages] == [[True], [True]]
            kept, site.asked = records(settings), []
            visit_all(house)
            assert sorted(site.asked) == [("/plain", 200), ("/tagged", 304)]
            for url in pages:
                row = house.catalogue.document(url)
                assert (row.state, row.versions, states(house, url)) == ("unchanged", 1, [True])
            assert records(settings) == kept

            site.text = b"<p>Jaan Tamm elab Narvas.</p>"
            visit_all(house)
            assert [states(house, url) for url in pages] == [[True, False]] * 2
            assert prune(house).versions == 2
            order_keep(house, source.id, "all")
            site.asked = []
            visit_all(house)
            assert sorted(site.asked) == [("/plain", 200), ("/tagged", 200)]
            for url in pages:
                first, second = house.catalogue.versions(url)
                assert (first.dropped, second.dropped) == (True, False)
                assert bytes_of(house, second).startswith(site.text)
            held = house.catalogue.holdings(limit=9)
            assert (held.versions, held.bodies, held.dropped_versions) == (2, 2, 2)
        finally:
            service.stop()
