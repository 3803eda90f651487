"""The archive keeps what came, as records that warcio reads and checks."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rehi.archive import Archive
from rehi.engines.folder import FolderShelf
from rehi.errors import ArchiveError, RecordDamaged, RecordMissing
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Visit

MakeVisit = Callable[..., Visit]
ReadFiles = Callable[[], list[Any]]


def body_of(archive: Archive, ref: RecordRef) -> bytes:
    with archive.open_body(ref) as body:
        return body.read()


def test_a_visit_leaves_its_request_beside_its_response(
    archive: Archive, make_visit: MakeVisit, read_files: ReadFiles
) -> None:
    visit = make_visit("http://www.rehemaa.test/k%C3%BClad?a=1#x", b"<p>Tere")
    ref = archive.keep(visit)
    archive.sync()
    info, request, response = read_files()
    assert [r.rec_type for r in (info, request, response)] == ["warcinfo", "request", "response"]
    assert request.rec_headers.get_header("WARC-Concurrent-To") == response.rec_headers.get_header("WARC-Record-ID")
    assert request.http_headers.statusline == "/k%C3%BClad?a=1 HTTP/1.1"
    assert request.http_headers.get_header("User-Agent") == "rehi/test"
    assert response.http_headers.statusline == "200 OK"
    assert response.rec_headers.get_header("WARC-IP-Address") == "127.0.0.1"
    assert response.rec_headers.get_header("WARC-Date") == "2024-03-09T12:00:01.123456Z"
    assert response.content == body_of(archive, ref) == b"<p>Tere"


def test_a_file_begins_by_saying_who_wrote_it(
    open_archive: Callable[..., Archive], make_visit: MakeVisit, read_files: ReadFiles, folder: Path
) -> None:
    archive = open_archive(settings={"operator": "an\r\narchivist"})
    archive.keep(make_visit())
    archive.sync()
    warcinfo = read_files()[0].content.decode()
    assert warcinfo.startswith("software: rehi/test\r\noperator: an archivist\r\nformat: WARC File Format 1.1\r\n")
    assert [file.name for file in folder.iterdir()] == ["rehi-20240309120000-w1-00001.warc.gz"]


def test_the_head_describes_the_decoded_body_and_keeps_what_it_said_before(
    archive: Archive, make_visit: MakeVisit, read_files: ReadFiles
) -> None:
    headers = (
        ("content-encoding", "gzip"),
        ("X-Odd", "  kept as it came  "),
        ("Content-Length", "3"),
        ("Transfer-Encoding", "chunked"),
        ("X-Odd", "twice"),
    )
    archive.keep(make_visit(body=b"decoded", headers=headers))
    archive.sync()
    response = read_files()[-1]
    assert response.content == b"decoded"
    assert response.http_headers.headers == [
        ("X-Archive-Orig-content-encoding", "gzip"),
        ("X-Odd", "kept as it came"),
        ("X-Archive-Orig-Content-Length", "3"),
        ("X-Archive-Orig-Transfer-Encoding", "chunked"),
        ("X-Odd", "twice"),
        ("Content-Length", "7"),
    ]


def test_an_http2_answer_is_written_as_the_field_does(
    archive: Archive, make_visit: MakeVisit, read_files: ReadFiles
) -> None:
    archive.keep(make_visit(http_version="2", reason="", request_headers=((":authority", "x"),)))
    archive.sync()
    _, request, response = read_files()
    assert response.http_headers.protocol == request.http_headers.statusline.split()[-1] == "HTTP/1.1"
    assert response.rec_headers.get_header("WARC-Protocol") == "h2"
    assert request.http_headers.headers == [("Host", "www.rehemaa.test")]


def test_hostile_headers_cannot_forge_records_or_bodies(
    archive: Archive, make_visit: MakeVisit, read_files: ReadFiles
) -> None:
    headers = (
        ("X-A", "b\r\n\r\nWARC/1.1\r\nforged"),
        ("", "nameless"),
        (" folded", "x"),
        ("X-\nB", "õ"),
        ("X-C", "\ud800\udc80"),
        ("Content-Length", "7"),
        ("Content-Length", "9"),
    )
    url = "http://www.rehemaa.test/\r\nWARC-Type: warcinfo"
    ref = archive.keep(make_visit(url, b"<p>Tere", headers=headers, reason="O\r\n\r\nK"))
    archive.sync()
    records = read_files()
    assert [record.rec_type for record in records] == ["warcinfo", "request", "response"]
    assert records[-1].content == body_of(archive, ref) == b"<p>Tere"


@pytest.mark.parametrize("body", [b"", b"x", b"\r\n\r\n", bytes(range(256)) * 1_000, b"\x1f\x8b\x08" * 50_000])
def test_any_bytes_come_back_as_they_were(
    archive: Archive, make_visit: MakeVisit, read_files: ReadFiles, body: bytes
) -> None:
    refs = [archive.keep(make_visit(body=body)) for _ in range(3)]
    archive.sync()
    assert [body_of(archive, ref) for ref in refs] == [body] * 3
    assert [record.content for record in read_files() if record.rec_type == "response"] == [body] * 3


def test_a_redirect_is_an_ordinary_response(archive: Archive, make_visit: MakeVisit, read_files: ReadFiles) -> None:
    ref = archive.keep(make_visit(status=301, reason="Moved", headers=(("Location", "/uus"),), body=b"moved"))
    archive.sync()
    head = archive.read_headers(ref)
    assert head.http is not None
    assert (head.fields.kind, head.http.status, head.http.header("location")) == ("response", 301, "/uus")
    assert read_files()[-1].content == b"moved"


def test_a_duplicate_is_a_revisit_that_names_the_original(
    archive: Archive, make_visit: MakeVisit, read_files: ReadFiles
) -> None:
    original = archive.keep(make_visit("http://a.test/", b"same"))
    again = archive.keep_duplicate(make_visit("http://b.test/", b"same", headers=(("ETag", "2"),)), body=original)
    archive.sync()
    records = read_files()
    assert [r.rec_type for r in records] == ["warcinfo", "request", "response", "request", "revisit"]
    fields, first = records[-1].rec_headers, records[2].rec_headers
    assert fields.get_header("WARC-Profile").endswith("/revisit/identical-payload-digest")
    assert fields.get_header("WARC-Refers-To") == first.get_header("WARC-Record-ID")
    assert fields.get_header("WARC-Refers-To-Target-URI") == "http://a.test/"
    assert fields.get_header("WARC-Refers-To-Date") == first.get_header("WARC-Date")
    assert fields.get_header("WARC-Payload-Digest") == first.get_header("WARC-Payload-Digest")
    assert records[-1].http_headers.headers == [("ETag", "2"), ("Content-Length", "4")]
    assert records[-1].content == b""
    with pytest.raises(RecordMissing):
        archive.open_body(again)


def test_a_304_is_a_revisit_by_the_servers_word(archive: Archive, make_visit: MakeVisit, read_files: ReadFiles) -> None:
    original = archive.keep(make_visit(body=b"old"))
    archive.keep_duplicate(make_visit(status=304, reason="Not Modified", body=b"", headers=()), body=original)
    archive.sync()
    revisit = read_files()[-1]
    assert revisit.rec_headers.get_header("WARC-Profile").endswith("/revisit/server-not-modified")
    assert revisit.http_headers.get_statuscode() == "304"
    digest = archive.read_headers(original).fields.payload_digest
    assert revisit.rec_headers.get_header("WARC-Payload-Digest") == digest


def test_what_is_no_duplicate_is_not_kept_as_one(archive: Archive, make_visit: MakeVisit, shelf: FolderShelf) -> None:
    original = archive.keep(make_visit(body=b"this"))
    revisit = archive.keep_duplicate(make_visit(body=b"this"), body=original)
    before = shelf.files()
    with pytest.raises(ArchiveError, match="not the one"):
        archive.keep_duplicate(make_visit(body=b"that"), body=original)
    with pytest.raises(ArchiveError, match="revisit record"):
        archive.keep_duplicate(make_visit(body=b"this"), body=revisit)
    assert shelf.files() == before


def test_a_body_that_is_not_what_the_answer_says_is_never_written(
    archive: Archive, make_visit: MakeVisit, shelf: FolderShelf
) -> None:
    archive.keep(make_visit())
    before = shelf.files()
    wrong: list[dict[str, Any]] = [{"size": 3}, {"size": 30}, {"digest": Digest("sha256:" + "0" * 64)}]
    for lie in wrong:
        with pytest.raises(RecordDamaged):
            archive.keep(make_visit(body=b"<p>Tere", **lie))
    with pytest.raises(ArchiveError):
        archive.keep(Visit(url="http://a.test/", started_at=datetime.now(UTC), seconds=0.0))
    assert shelf.files() == before


def test_files_are_rolled_and_the_last_one_is_gone_on_with(
    open_archive: Callable[..., Archive], make_visit: MakeVisit, read_files: ReadFiles, shelf: FolderShelf
) -> None:
    refs = []
    for number in range(6):
        archive = open_archive(file_bytes=2_000)  # as after a restart, each time
        refs.append(archive.keep(make_visit(f"http://a.test/{number}", str(number).encode())))
        archive.sync()
        records = read_files()
    names = [name for name, _ in shelf.files()]
    assert names == [f"rehi-20240309120000-w1-{number:05}.warc.gz" for number in range(1, len(names) + 1)]
    assert 1 < len(names) < 6
    assert [record.rec_type for record in records].count("warcinfo") == len(names)
    assert [body_of(archive, ref) for ref in refs] == [str(number).encode() for number in range(6)]


def test_workers_write_files_of_their_own(
    open_archive: Callable[..., Archive], make_visit: MakeVisit, shelf: FolderShelf
) -> None:
    for worker in ("w1", "w1-2", "../../etc/õ", ""):
        open_archive(worker=worker).keep(make_visit())
    stems = [name.removeprefix("rehi-20240309120000-") for name, _ in shelf.files()]
    assert stems == [f"{worker}-00001.warc.gz" for worker in ("etc", "w1", "w1-2", "worker")]


def test_every_file_is_whole_after_every_sync(archive: Archive, make_visit: MakeVisit, read_files: ReadFiles) -> None:
    refs: list[RecordRef] = []
    for number in range(5):
        refs.append(archive.keep(make_visit(f"http://a.test/{number}", b"same")))
        refs.append(archive.keep_duplicate(make_visit(f"http://b.test/{number}", b"same"), body=refs[0]))
        archive.sync()
        assert len(read_files()) == 1 + 2 * len(refs)


def test_a_flipped_bit_is_found_and_spares_the_others(archive: Archive, make_visit: MakeVisit, folder: Path) -> None:
    refs = [archive.keep(make_visit(f"http://a.test/{n}", b"%d " % n * 40)) for n in range(3)]
    archive.sync()
    harmless = named = 0
    with (folder / refs[1].file).open("r+b", buffering=0) as file:
        for bit in range(refs[1].offset * 8, refs[1].end * 8):
            byte = os.pread(file.fileno(), 1, bit // 8)
            os.pwrite(file.fileno(), bytes([byte[0] ^ 1 << bit % 8]), bit // 8)
            try:
                assert body_of(archive, refs[1]) == b"1 " * 40
                harmless += 1  # the gzip header's time and system, and other spellings of the same bytes
            except RecordDamaged as error:
                named += refs[1].file in str(error)
            if bit % 97 == 0:
                assert [body_of(archive, ref) for ref in (refs[0], refs[2])] == [b"0 " * 40, b"2 " * 40]
            os.pwrite(file.fileno(), byte, bit // 8)
    assert harmless + named == refs[1].length * 8
    assert harmless < 80


def test_a_body_can_be_read_bit_by_bit_and_left_early(archive: Archive, make_visit: MakeVisit) -> None:
    content = bytes(range(256)) * 2_000
    ref = archive.keep(make_visit(body=content))
    with archive.open_body(ref) as body:
        read = b"".join(iter(lambda: body.read(977), b""))
    assert read == content
    with archive.open_body(ref) as body:
        assert body.read(3) == content[:3]
