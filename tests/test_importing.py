"""Crawls made elsewhere become versions with their own times, once, whatever happens meanwhile."""

from __future__ import annotations

import gzip
import io
import os
import random
import zlib
from argparse import Namespace
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
from backports import zstd

from rehi.app import House
from rehi.errors import NotFound, RecordMissing
from rehi.model.capture import Capture, CaptureFilter
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Stage
from rehi.model.source import Source, SourceState
from rehi.model.version import Digest
from rehi.model.visit import Answer, Outcome, Visit
from rehi.operations.reindex import reindex, set_catalogue_aside
from rehi.operations.sources import enter, read_in
from rehi.operations.verification import verify_all, verify_sample
from rehi.settings import load_settings
from tests.warcs import DATE, arc, http, members, record, request, response, revisit, sha1

A, B, C = "http://a.ee/", "http://b.ee/", "http://c.ee/"
JUNE = datetime(2015, 6, 1, 10, tzinfo=UTC)
PAGE = "<title>Leht</title><p>Kirjanik Anton Hansen Tammsaare sündis Albu vallas ja elas Tallinnas.</p>".encode()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with House(load_settings(data=tmp_path / "data", fetch={"max_bytes": 2_000_000}, work={"workers": 1})) as house:
        yield house


@pytest.fixture
def take(house: House, tmp_path: Path) -> Callable[..., Source]:
    """Add records as a file, a member for each, and take it in."""
    made = [0]

    def take(*records: bytes, again: bool = False, in_place: bool = False, content: bytes | None = None) -> Source:
        made[0] += 1
        path = tmp_path / f"crawl-{made[0]}.warc.gz"
        path.write_bytes(members(records) if content is None else content)
        return read_in(house, enter(house, str(path), again=again, in_place=in_place).id)

    return take


Take = Callable[..., Source]


def captures(house: House, url: str) -> list[Capture]:
    return list(house.catalogue.captures(CaptureFilter(url=url)))


def bodies(house: House, url: str) -> list[bytes]:
    """The bytes of all versions in the order of time."""
    return [house.archive.open_body(version.body).read() for version in house.catalogue.versions(url)]


def problems(house: House) -> list[tuple[str, str]]:
    found, _ = house.catalogue.problems(stage=Stage.SOURCES, page=Page())
    return sorted((problem.subject, problem.code) for problem in found)


def check_files(house: House) -> None:
    """Every file of ours is one that warcio's checker accepts."""
    from warcio.checker import Checker

    files = [str(path) for path in house.archive_folder.glob("*.warc.gz")]
    assert Checker(Namespace(inputs=files, verbose=False)).process_all() == 0


def harvest(house: House) -> None:
    with house.working() as harvest:
        harvest.run(until_idle=True, stopped=lambda: False)


def test_a_record_becomes_a_version_with_its_own_time_and_all_that_was_said(house: House, take: Take) -> None:
    source = take(
        record("warcinfo", block=b"software: Heritrix\r\n"),
        request(A, "User-Agent: heritrix"),
        response(A, PAGE, "Content-Type: text/html", 'ETag: "x"', WARC_IP_Address="192.0.2.7"),
        record("metadata", A, b"fetchTimeMs: 1\r\n"),
    )
    (version,) = house.catalogue.versions(A)
    assert (version.taken_at, version.size, version.media_type, version.status) == (JUNE, len(PAGE), "text/html", 200)
    assert version.digest == f"sha256:{sha256(PAGE).hexdigest()}"
    assert bodies(house, A) == [PAGE]
    said = house.archive.read_headers(version.record)
    assert (said.fields.get("WARC-IP-Address"), said.fields.at) == ("192.0.2.7", JUNE)
    assert said.http is not None
    assert said.http.header("etag") == '"x"'
    (file,) = house.archive_folder.glob("*.warc.gz")
    assert b"User-Agent: heritrix" in gzip.decompress(file.read_bytes())
    assert {what: int(n) for what, n in source.counts.items() if ":" not in what or what.startswith("rejected")} == {
        "records": 4, "accepted": 1, "rejected": 3, "rejected:warcinfo": 1, "rejected:request": 1,
        "rejected:metadata": 1, "kept": 1, "visited": 1, "new": 1, "bytes": len(PAGE),
    }  # fmt: skip
    assert (source.kind, source.state) == ("warc", SourceState.DONE)
    check_files(house)


@pytest.mark.parametrize("after", [False, True], ids=["request first", "response first"])
def test_requests_find_their_answers_whichever_comes_first(house: House, take: Take, after: bool) -> None:
    pairs = [
        [request(f"{A}{n}", f"X-Number: {n}", WARC_Concurrent_To=f"<urn:r:{n}>", date="2015-06-01T10:00:01Z"),
         response(f"{A}{n}", str(n).encode(), WARC_Record_ID=f"<urn:r:{n}>")]
        for n in range(450)
    ]  # fmt: skip
    take(*(one for pair in pairs for one in (reversed(pair) if after else pair)))
    (file,) = house.archive_folder.glob("*.warc.gz")
    content = gzip.decompress(file.read_bytes())
    assert all(f"GET /{n} HTTP/1.1\r\nHost: a.ee\r\nX-Number: {n}\r\n".encode() in content for n in range(450))


def test_only_good_answers_become_versions_and_the_rest_is_counted(house: House, take: Take) -> None:
    source = take(
        response(A, b"", "Location: /new", status="301 Moved"),
        response(B, b"no", status="404 Not Found"),
        response(f"{B}1", b"no", status="503 Busy"),
        response(f"{B}2", b"pa", status="206 Partial Content"),
        response(f"{B}3", b"", "Location: /3", status="302 Found"),
        response("http://b.ee/robots.txt", b"User-agent: *"),
        record("response", "dns:b.ee", b"b.ee. 192.0.2.1", Content_Type="text/dns"),
        record("resource", "urn:x", b"x", Content_Type="text/plain"),
        response(f"{B}4", b"half", WARC_Truncated="length"),
        response(f"{B}5", b"posted"),
        request(f"{B}5", method="POST"),
        record("conversion", A, b"text", Content_Type="text/plain"),
        record("strange", A, b"?"),
        response(f"{B}6", b"", status="204 No Content"),
    )
    rejected = {what.partition(":")[2]: int(n) for what, n in source.counts.items() if what.startswith("rejected:")}
    assert rejected == {
        "status": 3, "redirect": 1, "robots": 1, "dns": 1, "scheme": 1, "truncated": 1, "method": 1, "request": 1,
        "other": 1, "conversion": 1,
    }  # fmt: skip
    counts = source.counts
    assert (counts["kept"], counts["records"]) == (2, counts["accepted"] + counts["rejected"])
    row = house.catalogue.document(A)
    assert (row.state, row.redirect_to, row.versions) == ("redirect", "http://a.ee/new", 0)
    assert bodies(house, f"{B}6") == [b""]
    for missing in (B, f"{B}2", f"{B}5"):
        with pytest.raises(NotFound):
            house.catalogue.versions(missing)


CODINGS: dict[str, tuple[tuple[str, ...], bytes]] = {
    "gzip": (("Content-Encoding: gzip",), gzip.compress(PAGE)),
    "deflate": (("Content-Encoding: deflate",), zlib.compress(PAGE)),
    "brotli": (("Content-Encoding: br",), brotli.compress(PAGE)),
    "zstd": (("Content-Encoding: zstd",), zstd.compress(PAGE)),
    "chunked": (("Transfer-Encoding: chunked",), b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE)),
    "chunked gzip": (
        ("Content-Encoding: gzip", "Transfer-Encoding: chunked"),
        b"%x\r\n%s\r\n0\r\n\r\n" % (len(gzip.compress(PAGE)), gzip.compress(PAGE)),
    ),
    "undone before": (("Content-Encoding: gzip", "Transfer-Encoding: chunked"), PAGE),
}


@pytest.mark.parametrize(("headers", "payload"), CODINGS.values(), ids=CODINGS)
@pytest.mark.parametrize("in_place", [False, True], ids=["copied", "in place"])
def test_bodies_are_kept_decoded_with_their_header_lines(
    house: House, take: Take, headers: tuple[str, ...], payload: bytes, in_place: bool
) -> None:
    take(response(A, payload, *headers), in_place=in_place)
    assert bodies(house, A) == [PAGE]
    http_head = house.archive.read_headers(house.catalogue.versions(A)[0].record).http
    assert http_head is not None
    for header in headers:
        name, _, value = header.partition(": ")
        assert http_head.header(f"X-Archive-Orig-{name}") == value
    check_files(house)


@pytest.mark.parametrize(
    ("headers", "payload", "what"),
    [
        (("Content-Encoding: gzip",), gzip.compress(os.urandom(100_000), mtime=0)[:-50_000], "malformed"),
        (("Transfer-Encoding: chunked",), b"ff\r\nTere", "malformed"),
        (("Content-Encoding: gzip",), gzip.compress(bytes(200_000_000), 1, mtime=0), "rejected:too-large"),
        (("Content-Encoding: br",), brotli.compress(bytes(50_000_000), quality=1), "rejected:too-large"),
        (("Content-Type: text/plain",), bytes(2_000_001), "rejected:too-large"),
    ],
    ids=["half a gzip", "half a chunk", "a gzip bomb", "a brotli bomb", "a large body"],
)
def test_half_a_body_and_one_too_many_are_never_versions(
    house: House, take: Take, headers: tuple[str, ...], payload: bytes, what: str
) -> None:
    source = take(response(A, payload, *headers), response(B, PAGE))
    assert (source.counts[what], source.counts["kept"]) == (1, 1)
    with pytest.raises(NotFound):
        house.catalogue.versions(A)
    assert bodies(house, B) == [PAGE]


def test_a_second_run_adds_nothing(house: House, take: Take) -> None:
    records = [
        response(A, PAGE),
        revisit(A, PAGE, date="2015-07-01T10:00:00Z"),
        response(B, b"", "Location: /x", status="301 x"),
    ]
    take(*records)
    before = [(path, path.read_bytes()) for path in house.archive_folder.iterdir()]
    totals = house.catalogue.totals(now=JUNE)
    source = take(*records)
    assert (source.counts["known"], source.counts.get("kept", 0)) == (3, 0)
    assert [(path, path.read_bytes()) for path in house.archive_folder.iterdir()] == before
    assert house.catalogue.totals(now=JUNE).visits == totals.visits == 3


def test_what_is_on_record_belongs_to_every_source_that_brings_it(house: House, take: Take) -> None:
    first = take(response(A, PAGE), response(B, b"", "Location: http://c.ee/", status="302 Found"))
    second = take(
        response(A, PAGE), response(B, b"", "Location: http://c.ee/", status="302 Found"), revisit(C, b"elsewhere")
    )
    assert (second.counts["known"], second.counts["unresolved"]) == (2, 1)
    for source in (first, second):
        rows, _ = house.catalogue.documents(DocumentFilter(source_id=source.id), Page())
        assert sorted(row.url for row in rows if row.url != C) == [A, B]
    row = house.catalogue.document(A)
    assert [claims.source_id for claims in house.catalogue.claims_on([row.resource_id])[row.resource_id]] == [
        first.id,
        second.id,
    ]
    assert (second.counts["visited"], second.counts["new"]) == (first.counts["visited"], first.counts["new"])
    harvest(house)
    assert house.catalogue.totals(now=datetime.now(UTC)).visits == 2, "nothing is due"


def test_revisits_are_resolved_by_their_digest(house: House, take: Take) -> None:
    take(
        response(A, PAGE),
        revisit(B, PAGE, head=http(b""), date="2015-06-02T10:00:00Z"),
        revisit(A, PAGE, date="2015-06-03T10:00:00Z"),
    )
    assert bodies(house, B) == [PAGE]
    assert [seen.outcome for seen in captures(house, A)] == [Outcome.NEW, Outcome.UNCHANGED]
    assert house.catalogue.versions(B)[0].size == len(PAGE)
    assert problems(house) == []
    check_files(house)


def test_revisits_are_resolved_in_another_file_by_what_they_refer_to(house: House, take: Take) -> None:
    coded = gzip.compress(PAGE)
    take(response(A, coded, "Content-Encoding: gzip"))
    later = "2015-06-02T10:00:00Z"
    take(revisit(B, coded, date=later, WARC_Refers_To_Target_URI=A, WARC_Refers_To_Date=DATE))
    assert bodies(house, B) == [PAGE]


def test_revisits_are_resolved_by_what_was_there_before(house: House, take: Take) -> None:
    take(response(A, PAGE), response(B, PAGE + b"2"))
    profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
    head = http(b"", status="304 Not Modified")
    source = take(
        revisit(A, PAGE, date="2015-06-02T10:00:00Z"),
        revisit(B, b"", head=head, date="2015-06-02T10:00:00Z", WARC_Profile=profile, WARC_Payload_Digest=""),
        response(B, b"", status="304 Not Modified", date="2015-06-03T10:00:00Z"),
    )
    assert [seen.outcome for seen in captures(house, A)] == [Outcome.NEW, Outcome.UNCHANGED]
    assert [seen.outcome for seen in captures(house, B)] == [Outcome.NEW, Outcome.UNCHANGED, Outcome.UNCHANGED]
    assert (source.counts["kept"], source.counts.get("unresolved", 0)) == (3, 0)
    check_files(house)


def test_a_revisit_of_what_is_not_here_is_a_problem_until_it_is(house: House, take: Take, tmp_path: Path) -> None:
    lost = revisit(A, PAGE, date="2015-06-02T10:00:00Z")
    source = take(response(B, b"b"), lost)
    assert source.counts["unresolved"] == 1
    assert problems(house) == [(f"crawl-1.warc.gz:{len(members([response(B, b'b')]))}", "record-missing")]
    take(response(A, PAGE))
    assert len(captures(house, A)) == 1
    read_in(house, enter(house, str(tmp_path / "crawl-1.warc.gz"), again=True).id)
    assert len(captures(house, A)) == 2


def test_a_resource_record_is_kept_as_if_it_had_been_served(house: House, take: Take) -> None:
    take(record("resource", A, b"%PDF-1.4", Content_Type="application/pdf"))
    assert bodies(house, A) == [b"%PDF-1.4"]
    assert house.catalogue.versions(A)[0].media_type == "application/pdf"


def test_arc_files_become_versions(house: House, take: Take) -> None:
    take(content=b"".join(arc((A, http(PAGE)), ("dns:a.ee", b"a.ee"), ("http://a.ee/two words", http(b"two")))))
    assert bodies(house, A) == [PAGE]
    assert house.catalogue.versions(A)[0].taken_at == datetime(2005, 6, 1, 10, tzinfo=UTC)
    assert bodies(house, "http://a.ee/two%20words") == [b"two"]


def test_a_damaged_file_gives_what_it_holds_and_says_where(house: House, take: Take) -> None:
    records = [response(f"{A}{n}", str(n).encode() * 100) for n in range(5)]
    packed = [members([one]) for one in records]
    place = sum(map(len, packed[:2]))
    content = bytearray(b"".join(packed))
    content[place + 30] ^= 0xFF
    source = take(content=bytes(content)[:-30])
    assert [len(captures(house, f"{A}{n}")) for n in range(5)] == [1, 1, 0, 1, 0]
    assert (source.state, source.counts["malformed"], source.counts["kept"]) == (SourceState.DONE, 2, 3)
    last = sum(map(len, packed[:4]))
    assert problems(house) == sorted((f"crawl-1.warc.gz:{at}", "record-damaged") for at in (place, last))


def test_many_versions_of_a_page_are_kept_small_and_come_back_exactly(house: House, take: Take) -> None:
    chance = random.Random(1)
    text = bytearray(chance.randbytes(20_000).hex().encode())
    made = []
    for _ in range(10):
        text[chance.randrange(len(text))] ^= 1
        made.append(bytes(text))
    take(*(response(A, body, date=f"2015-06-{day:02}T10:00:00Z") for day, body in enumerate(made, 1)))
    assert bodies(house, A) == made
    assert sum(path.stat().st_size for path in house.archive_folder.iterdir()) < 2 * len(gzip.compress(made[0]))


def test_an_import_goes_through_the_rooms_and_nothing_is_visited_for_it(house: House, take: Take) -> None:
    source = take(response(A, PAGE), response(B, b"", f"Location: {C}", status="301 Moved"))
    harvest(house)
    row = house.catalogue.document(A)
    assert (row.title, row.language) == ("Leht", "et")
    assert "Tallinn" in {name.name for name in house.catalogue.outline(row.resource_id).names}
    answer = house.query(
        "SELECT ?v WHERE { <http://a.ee/> <http://purl.org/dc/terms/hasVersion> ?v }", media_type="text/csv"
    )
    assert len(b"".join(answer.chunks).split()) == 2
    assert house.catalogue.totals(now=JUNE).visits == 2
    assert house.catalogue.next_ready() is None
    assert house.catalogue.make_due(source_id=source.id, now=JUNE) == 3  # when somebody asks for it


def test_an_older_crawl_goes_into_the_past_and_the_newest_page_stays_shown(house: House, take: Take) -> None:
    take(response(A, PAGE, date="2020-01-01T00:00:00Z"))
    take(response(A, b"<title>Old</title><p>Vana leht, mida keegi enam ei loe.", date="2010-01-01T00:00:00Z"))
    harvest(house)
    assert [version.taken_at.year for version in house.catalogue.versions(A)] == [2010, 2020]
    assert house.catalogue.document(A).title == "Leht"
    query = """SELECT ?year WHERE { ?new <http://www.w3.org/ns/prov#wasRevisionOf> ?old .
        ?old <http://purl.org/dc/terms/issued> ?at BIND(YEAR(?at) AS ?year) }"""
    assert b"".join(house.query(query, media_type="text/csv").chunks).split() == [b"year", b"2010"]


def test_a_file_is_adopted_without_being_copied_or_touched(house: House, take: Take, tmp_path: Path) -> None:
    source = take(
        request(A), response(A, PAGE), revisit(A, PAGE, head=http(b""), date="2015-06-02T10:00:00Z"),
        response(B, b"", "Location: /x", status="301 Moved"), in_place=True,
    )  # fmt: skip
    path = tmp_path / "crawl-1.warc.gz"
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert (source.kind, source.counts["kept"], source.counts["adopted"]) == ("warc-in-place", 3, 3)
    (link,) = house.archive_folder.iterdir()
    assert (link.is_symlink(), link.resolve()) == (True, path.resolve())
    assert bodies(house, A) == [PAGE]
    assert [seen.outcome for seen in captures(house, A)] == [Outcome.NEW, Outcome.UNCHANGED]
    harvest(house)
    assert house.catalogue.document(A).title == "Leht"
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    path.unlink()
    with pytest.raises(RecordMissing):
        bodies(house, A)


def test_what_lies_in_an_adopted_file_is_repeated_and_built_upon(house: House, take: Take) -> None:
    take(response(A, PAGE), in_place=True)
    (version,) = house.catalogue.versions(A)
    with house.importing() as archive:
        assert archive.holds(version.body)
        for day, body, status in ((1, PAGE, 200), (2, b"", 304)):
            answer = Answer(
                status=status, reason="", http_version="1.1", request_headers=(), headers=(), address="",
                body=io.BytesIO(body), size=len(body), digest=Digest(f"sha256:{sha256(body).hexdigest()}"),
            )  # fmt: skip
            at = JUNE + timedelta(days=day)
            kept = archive.keep_duplicate(Visit(url=A, started_at=at, seconds=0, answer=answer), body=version.body)
            said = archive.read_headers(kept).fields
            assert said.get("WARC-Refers-To-Target-URI") == A
            digest = version.digest if status == 200 else sha1(PAGE)
            assert said.get("WARC-Payload-Digest") == digest
    check_files(house)
    take(response(A, PAGE + b"!", date="2015-06-09T10:00:00Z"))
    assert bodies(house, A) == [PAGE, PAGE + b"!"]


def test_what_was_adopted_is_verified_where_it_lies(house: House, take: Take, tmp_path: Path) -> None:
    take(response(A, PAGE), response(B, PAGE + b"!"), in_place=True)
    assert verify_all(house).faults == []
    assert verify_sample(house, 100).faults == []
    path = tmp_path / "crawl-1.warc.gz"
    raw = bytearray(path.read_bytes())
    raw[house.catalogue.versions(B)[0].body.offset + 200] ^= 8
    path.write_bytes(raw)
    (fault,) = verify_all(house).faults
    assert fault.offset == house.catalogue.versions(B)[0].body.offset
    path.unlink()
    assert {fault.why for fault in verify_all(house).faults} == {"the file is not there"}


def test_what_was_copied_is_not_due_after_a_reindexing(house: House, take: Take) -> None:
    take(response(A, PAGE))
    before = house.catalogue.versions(A)
    aside = set_catalogue_aside(house)
    assert aside.exists()
    with House(house.settings) as again:
        assert reindex(again).versions == 1
        assert [(one.taken_at, one.digest) for one in again.catalogue.versions(A)] == [
            (one.taken_at, one.digest) for one in before
        ]
        assert again.catalogue.totals(now=JUNE + timedelta(days=36_500)).waiting == 0
