"""An export is plain WARC that other tools take as it is: whole, deduplicated, and indexed."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sqlite3
import zipfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rehi.archive.export import Exported
from rehi.archive.export.wacz import write_in_blocks
from rehi.errors import DiskFull, NotFound, UserError
from rehi.model.capture import CaptureFilter
from rehi.operations.export import ExportKind, export
from tests.archive.library import REQUEST, Library, open_library

PAGE, COPY, OLD, DATA = (
    "http://www.rehemaa.test/", "http://koopia.rehemaa.test/x", "http://a.rehemaa.test/vana", "http://www.rehemaa.test/d?b=2&a=1",
)  # fmt: skip
TEXTS = [f"<!doctype html><title>Küla</title><p>Tere, õnn! {'rehi ' * 400}{n}".encode() for n in range(4)]
NOISE = hashlib.shake_256(b"noise").digest(400_000)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Versions that are whole, deltas and repeated; a copy elsewhere, a redirect and a large file."""
    with open_library(tmp_path / "data") as library:
        library.keep(PAGE, TEXTS[0])
        library.keep(PAGE, TEXTS[1])
        library.keep(PAGE, b"", status=304, media_type="")
        library.keep(PAGE, TEXTS[2])
        library.keep(PAGE, TEXTS[2])
        library.keep(PAGE, TEXTS[0])  # as it was at first
        library.keep(COPY, TEXTS[1])
        library.keep(OLD, b"gone", status=301, to=PAGE)
        library.keep(DATA, NOISE, media_type="application/octet-stream")
        yield library


def warc(library: Library, folder: Path, **where: Any) -> Exported:
    return export(library.house, ExportKind.WARC, folder, CaptureFilter(**where))


def records_of(folder: Path) -> list[Any]:
    """All records as warcio reads them, each with its ``content``, after its checker has passed every file."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.checker import Checker

    files = sorted(folder.rglob("*.warc.gz"))
    assert Checker(Namespace(inputs=[str(file) for file in files], verbose=False)).process_all() == 0
    records = []
    for file in files:
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                record.content = record.content_stream().read()
                records.append(record)
    return records


def field(record: Any, name: str) -> str:
    return record.rec_headers.get_header(name) or ""


def test_every_capture_is_a_plain_record_with_its_request(library: Library, tmp_path: Path) -> None:
    kept = Counter(type_of for type_of in _types(library))
    assert kept["delta"] >= 2  # else this test says little
    exported = warc(library, tmp_path / "out")
    records = records_of(tmp_path / "out")
    assert Counter(record.rec_type for record in records) == {
        "warcinfo": 1, "request": 9, "response": 6, "revisit": 3,
    }  # fmt: skip
    assert (exported.captures, exported.counts) == (9, {"whole": 5, "revisits": 3, "redirects": 1})
    assert exported.bytes == sum(file.stat().st_size for file in (tmp_path / "out").glob("*.warc.gz"))
    for request, answer in zip(records[1::2], records[2::2], strict=True):
        assert request.rec_type == "request"
        assert field(request, "WARC-Concurrent-To") == field(answer, "WARC-Record-ID")
        assert request.http_headers.get_header("User-Agent") == dict(REQUEST)["User-Agent"]
        for name in ("WARC-Date", "WARC-Target-URI", "WARC-IP-Address", "WARC-Protocol"):
            assert field(request, name) == field(answer, name) != ""
    assert len({field(record, "WARC-Record-ID") for record in records}) == len(records)


def _types(library: Library) -> list[str]:
    return [library.house.archive.read_headers(capture.record).fields.kind for capture in library.captures()]


def test_versions_come_back_byte_for_byte_with_their_headers(library: Library, tmp_path: Path) -> None:
    warc(library, tmp_path / "out")
    by_moment = {
        field(record, "WARC-Date")[:16]: record
        for record in records_of(tmp_path / "out")
        if record.rec_type == "response"
    }
    bodies = {moment: record.content for moment, record in by_moment.items()}
    assert bodies == {
        "2024-03-09T12:01": TEXTS[0],
        "2024-03-09T12:02": TEXTS[1],
        "2024-03-09T12:04": TEXTS[2],
        "2024-03-09T12:07": TEXTS[1],  # the copy comes first in the order of URLs, and repeats nothing that came before
        "2024-03-09T12:08": b"gone",
        "2024-03-09T12:09": NOISE,
    }
    delta = by_moment["2024-03-09T12:04"]
    assert delta.http_headers.get_header("Server") == "Õhuke/1.0"
    assert delta.http_headers.get_header("Content-Length") == str(len(TEXTS[2]))


def test_a_revisit_refers_to_a_record_of_the_same_export(library: Library, tmp_path: Path) -> None:
    warc(library, tmp_path / "out")
    records = records_of(tmp_path / "out")
    whole = {field(record, "WARC-Record-ID"): record for record in records if record.rec_type == "response"}
    revisits = [record for record in records if record.rec_type == "revisit"]
    for revisit in revisits:
        original = whole[field(revisit, "WARC-Refers-To")]
        for here, there in (
            ("WARC-Refers-To-Target-URI", "WARC-Target-URI"),
            ("WARC-Refers-To-Date", "WARC-Date"),
            ("WARC-Payload-Digest", "WARC-Payload-Digest"),
        ):
            assert field(revisit, here) == field(original, there)
    profiles = Counter(field(record, "WARC-Profile").rpartition("/")[2] for record in revisits)
    assert profiles == {"identical-payload-digest": len(revisits) - 1, "server-not-modified": 1}


def test_what_refers_to_something_outside_the_export_is_written_whole(library: Library, tmp_path: Path) -> None:
    (_, _, unmodified, *_) = library.captures(url=PAGE)
    warc(library, tmp_path / "out", url=PAGE, since=unmodified.at, until=unmodified.at)
    (response,) = [record for record in records_of(tmp_path / "out") if record.rec_type == "response"]
    assert response.content == TEXTS[1]
    assert (response.http_headers.get_statuscode(), response.http_headers.get_header("Content-Type")) == (
        "200", "text/html; charset=utf-8",
    )  # fmt: skip
    *_, again = library.captures(url=PAGE)
    warc(library, tmp_path / "again", url=PAGE, since=again.at)
    (response,) = [record for record in records_of(tmp_path / "again") if record.rec_type == "response"]
    assert response.content == TEXTS[0]


def test_files_are_rolled_at_a_size_and_their_index_is_sorted(library: Library, tmp_path: Path) -> None:
    export(library.house, ExportKind.WARC, tmp_path / "out", CaptureFilter(), file_bytes=2_000)
    files = sorted(path.name for path in (tmp_path / "out").glob("*.warc.gz"))
    assert len(files) >= 3
    assert [record.rec_type for record in records_of(tmp_path / "out")].count("warcinfo") == len(files)
    lines = (tmp_path / "out" / "index.cdxj").read_bytes().splitlines()
    assert lines == sorted(lines)
    assert len(lines) == 9
    for line in lines:
        key, moment, values = line.split(b" ", 2)
        place = json.loads(values)
        with (tmp_path / "out" / place["filename"]).open("rb") as file:
            file.seek(int(place["offset"]))
            plain = gzip.decompress(file.read(int(place["length"])))
        assert f"WARC-Target-URI: {place['url']}\r\n".encode() in plain
        assert place["digest"].encode() in plain
        assert plain[plain.index(b"WARC-Date: ") + 11 :][:4] == moment[:4] == b"2024"
        assert key.endswith(b")/") or b"rehemaa" in key


def test_a_package_says_what_it_holds(library: Library, tmp_path: Path) -> None:
    exported = export(library.house, ExportKind.WACZ, tmp_path / "k.wacz", CaptureFilter(), file_bytes=2_000)
    assert len(exported.files) >= 3
    with zipfile.ZipFile(tmp_path / "k.wacz") as package:
        assert package.testzip() is None
        described = json.loads(package.read("datapackage.json"))
        digest = json.loads(package.read("datapackage-digest.json"))
        listed = {resource["path"]: (resource["hash"], resource["bytes"]) for resource in described["resources"]}
        held = {
            entry.filename: (f"sha256:{hashlib.sha256(package.read(entry)).hexdigest()}", entry.file_size)
            for entry in package.infolist()
        }
        stored = [entry.compress_type for entry in package.infolist() if entry.filename.endswith(".gz")]
        lines = gzip.decompress(package.read("indexes/index.cdx.gz")).splitlines()
        _, *places = package.read("indexes/index.idx").decode().splitlines()
        pages = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()]
        package.extractall(tmp_path / "unpacked")
    assert digest == {"path": "datapackage.json", "hash": held.pop("datapackage.json")[0]}
    assert held.pop("datapackage-digest.json")
    assert held == listed
    assert (described["profile"], described["wacz_version"], set(stored)) == ("data-package", "1.1.1", {0})
    assert len(lines) == 9
    assert lines == sorted(lines)
    assert [place.split(" ", 2)[:2] for place in places] == [lines[0].decode().split(" ", 2)[:2]]
    assert [(page["url"], page["ts"]) for page in pages[1:]] == [
        (COPY, "2024-03-09T12:07:00Z"), *((PAGE, f"2024-03-09T12:0{minute}:00Z") for minute in (1, 2, 4, 6)),
    ]  # fmt: skip
    assert (described["mainPageUrl"], len({page["id"] for page in pages})) == (COPY, 6)
    assert len(records_of(tmp_path / "unpacked")) == len(exported.files) + 9 * 2


def test_the_index_of_a_large_package_is_cut_into_blocks() -> None:
    lines = [f"ee,a)/{n:05} 20240309120000 {{}}" for n in range(6_500)]
    packed = io.BytesIO()
    meta, *places = write_in_blocks(lines, packed)
    assert json.loads(meta.split(" ", 2)[2]) == {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
    assert len(places) == 3
    lines_read = []
    for place in places:
        key, moment, values = place.split(" ", 2)
        entry = json.loads(values)
        part = packed.getvalue()[entry["offset"] :][: entry["length"]]
        assert entry["digest"] == f"sha256:{hashlib.sha256(part).hexdigest()}"
        block = gzip.decompress(part).decode().splitlines()
        assert block[0].startswith(f"{key} {moment} ")
        lines_read += block
    assert lines_read == lines


def test_what_is_damaged_or_dropped_is_left_out_and_named(library: Library, tmp_path: Path) -> None:
    (data,) = library.captures(url=DATA)
    (warc_file,) = library.house.archive_folder.glob("*.warc.gz")
    content = bytearray(warc_file.read_bytes())
    content[data.record.offset + data.record.length // 2] ^= 0xFF
    warc_file.write_bytes(content)
    with sqlite3.connect(library.house.settings.data / "catalogue.db") as database:
        dropped = f"sha256:{hashlib.sha256(TEXTS[2]).hexdigest()}"
        database.execute("UPDATE blob SET dropped_at = 1, dropped_by = 'newest 1' WHERE digest = ?", (dropped,))
    database.close()
    for kind, name in ((ExportKind.WARC, "out"), (ExportKind.WACZ, "out.wacz"), (ExportKind.FILES, "files")):
        exported = export(library.house, kind, tmp_path / name, CaptureFilter())
        assert (exported.captures, exported.dropped, exported.unreadable) == (6, 2, 1)
        (reason,) = exported.reasons
        assert DATA in reason
        assert str(data.record.offset) in reason
    assert DATA not in {field(record, "WARC-Target-URI") for record in records_of(tmp_path / "out")}
    with pytest.raises(NotFound, match=r"none of what matches can be read \(1 visits\)"):
        warc(library, tmp_path / "none", url=DATA)
    assert not (tmp_path / "none").exists()


def test_a_folder_by_date_host_and_hash_has_a_table_of_what_is_in_it(library: Library, tmp_path: Path) -> None:
    import csv

    export(library.house, ExportKind.FILES, tmp_path / "out", CaptureFilter())
    with (tmp_path / "out" / "index.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["url"] for row in rows] == sorted(row["url"] for row in rows)
    hashed = hashlib.sha224(PAGE.encode()).hexdigest()
    assert [row["path"] for row in rows if row["url"] == PAGE] == [
        f"2024-03-09/www.rehemaa.test/{hashed}",
        f"2024-03-09/www.rehemaa.test/{hashed}-120200",
        f"2024-03-09/www.rehemaa.test/{hashed}-120200",  # unchanged
        f"2024-03-09/www.rehemaa.test/{hashed}-120400",
        f"2024-03-09/www.rehemaa.test/{hashed}-120400",
        f"2024-03-09/www.rehemaa.test/{hashed}",  # as at first
    ]
    (redirect,) = [row for row in rows if row["url"] == OLD]
    assert (redirect["path"], redirect["status"], redirect["outcome"]) == ("", "301", "redirect")
    for row in rows:
        if row["path"]:
            content = (tmp_path / "out" / row["path"]).read_bytes()
            assert row["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) == len({row["path"] for row in rows if row["path"]}) + 2


@pytest.mark.parametrize("host", ["[::1]:8080", "..", "a/b", "A" * 300 + ".test", "x%2f..%2f", "=cmd|.test"], ids=str)
def test_no_host_leads_out_of_the_folder(host: str) -> None:
    from rehi.archive.export.files import _harmless, _host

    name = _host(f"http://{host}/")
    assert 0 < len(name) <= 200
    assert "/" not in name
    assert name not in ("", ".", "..")
    assert _harmless("=1+1") == "'=1+1"


def test_an_export_replaces_only_an_export_and_only_if_told_to(library: Library, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    export(library.house, ExportKind.FILES, mine, CaptureFilter(url=PAGE))  # an empty folder is free
    with pytest.raises(UserError, match="add --force"):
        warc(library, mine)
    assert (mine / "index.csv").exists()
    export(library.house, ExportKind.WARC, mine, CaptureFilter(), force=True)
    assert not (mine / "index.csv").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    with pytest.raises(UserError, match="something else"):
        export(library.house, ExportKind.WARC, other, CaptureFilter(), force=True)
    file = tmp_path / "a.wacz"
    file.write_text("old")
    with pytest.raises(UserError, match="add --force"):
        export(library.house, ExportKind.WACZ, file, CaptureFilter())
    assert file.read_text() == "old"
    export(library.house, ExportKind.WACZ, file, CaptureFilter(), force=True)
    assert zipfile.is_zipfile(file)
    with pytest.raises(UserError, match="is a folder"):
        export(library.house, ExportKind.WACZ, _made(tmp_path / "f.wacz"), CaptureFilter(), force=True)
    with pytest.raises(UserError, match="is a file"):
        export(library.house, ExportKind.WARC, file, CaptureFilter(), force=True)
    with pytest.raises(UserError, match=r"ends with \.wacz"):
        export(library.house, ExportKind.WACZ, tmp_path / "a.zip", CaptureFilter())
    with pytest.raises(UserError, match="can't be"):
        warc(library, Path("/"))
    assert _leftovers(tmp_path) == []


@pytest.mark.parametrize("kind", list(ExportKind), ids=str)
def test_an_export_that_is_stopped_leaves_nothing(library: Library, tmp_path: Path, kind: ExportKind) -> None:
    def stop(exported: Exported) -> None:
        if exported.captures == 3:
            raise KeyboardInterrupt

    target = tmp_path / "deep" / "er" / "out.wacz"
    with pytest.raises(KeyboardInterrupt):
        export(library.house, kind, target, CaptureFilter(), watch=stop)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("kind", list(ExportKind), ids=str)
def test_a_full_disk_is_named_and_leaves_nothing(library: Library, tmp_path: Path, kind: ExportKind) -> None:
    import resource
    import signal

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    try:
        with pytest.raises(DiskFull, match="make room"):
            export(library.house, kind, tmp_path / "full" / "out.wacz", CaptureFilter())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert list((tmp_path / "full").iterdir()) == []


def test_a_place_that_can_not_be_written_is_named(library: Library, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="can't be written"):
        warc(library, tmp_path / "file" / "out")


def test_nothing_that_matches_is_an_error(library: Library, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing that is kept matches"):
        warc(library, tmp_path / "out", host="nobody.test")
    assert _leftovers(tmp_path) == []


def test_a_large_body_passes_through_in_pieces(tmp_path: Path) -> None:
    import tracemalloc

    size = 24_000_000
    with open_library(tmp_path / "data") as library:
        library.keep(DATA, hashlib.shake_256(b"large").digest(size), media_type="application/zip")
        for number, kind in enumerate(ExportKind):
            tracemalloc.start()
            export(library.house, kind, tmp_path / f"{number}.wacz", CaptureFilter())
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < 6_000_000, (kind, peak)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix == ".part"]
