"""Inward doors: what is read in this house that others have written, and how each is given a hostile input."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Protocol

from rehi.archive import DerivedFiles
from rehi.archive.derived import _record, write_reading
from rehi.archive.foreign import Damage, open_foreign
from rehi.archive.record import field_lines, unpack_record
from rehi.backup.manifest import (
    FORMAT,
    Backup,
    BackupFile,
    BackupPart,
    _digest,
    decode,
    decode_files,
    encode,
    encode_files,
)
from rehi.engines.folder import FolderShelf
from rehi.errors import RehiError
from rehi.extract import extract
from rehi.fetch import PRODUCT, RobotRules, read_robots
from rehi.model.source import Malformed
from rehi.model.version import RecordRef
from rehi.model.visit import Visit
from rehi.sources.crawl_log import read_crawl_log
from rehi.sources.lines import open_lines, read_cursor
from rehi.sources.recognition import recognise_file
from rehi.sources.url_list import read_url_list
from rehi.testing.world import World
from tests.archive.test_derived_files import BODY, DIGEST, EMPTY, READING, _encode
from tests.doors.mutation import mutate, mutate_value
from tests.fetch.conftest import made_up
from tests.warcs import arc, frames, members, request, response, revisit

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MOST_TEXT = 2_000_000
MAIN_TYPES = ("text/html", "text/plain", "text/csv", "application/json", "application/xml", "application/rss+xml",
              "application/pdf", "application/zip", "application/octet-stream", "text/html; charset=\xff", "")  # fmt: skip


class Door(Protocol):
    """Something through which others' bytes come in."""

    name: str

    def draw(self, chance: Random) -> bytes:
        """Return an input."""

    def send(self, raw: bytes) -> str:
        """Give it to the code behind the door; return what became of it in a word. RehiError is an answer, too."""


class FileDoor:
    """Files that are read line by line or record by record."""

    def __init__(self, name: str, samples: Sequence[bytes], read: Callable[[Path], str], folder: Path) -> None:
        self.name, self._samples, self._read, self._path = name, samples, read, folder / name

    def draw(self, chance: Random) -> bytes:
        return mutate(chance.choice(self._samples), chance, self._samples)

    def send(self, raw: bytes) -> str:
        self._path.write_bytes(raw)
        return self._read(self._path)


def read_source(path: Path) -> str:
    """Recognise a list or a log, and read it as both."""
    from rehi.builtin import load_all

    recognised = "not recognised"
    try:
        recognised = recognise_file(path, load_all("source"))
    except RehiError as error:
        recognised = error.code
    for read in (read_url_list, read_crawl_log):
        with open_lines(path) as lines:
            for entry in read(lines):
                assert not isinstance(entry, Malformed) or entry.why
    return recognised


def read_crawl(path: Path) -> str:
    """Read all records of a web archive, with their answers, and from a place in the middle again."""
    damaged = whole = 0
    with ExitStack() as stack:
        file = open_foreign(path)
        stack.callback(file.close)
        starts = [0]
        for record in file.records():
            if isinstance(record, Damage):
                assert record.why
                damaged += 1
                continue
            starts.append(record.at)
            try:
                for _ in record.open_message().payload():
                    pass
                whole += record.is_as_declared()
            except RehiError:
                damaged += 1
        for _ in file.records(starts[len(starts) // 2]):
            pass
    return "damaged" if damaged else "whole"


class DocumentDoor:
    """Documents of all formats of the practice web, as their readers get them."""

    name = "documents"

    def __init__(self, world: World) -> None:
        by_format = {document.format: document for document in world.documents}
        self._samples = [(world.body(one.url), one.format.media_type) for one in by_format.values()]
        self._bodies = [raw for raw, _ in self._samples]

    def draw(self, chance: Random) -> bytes:
        raw, media_type = chance.choice(self._samples)
        declared = media_type if chance.random() < 0.8 else chance.choice(MAIN_TYPES)
        return declared.encode("latin-1") + b"\n" + mutate(raw, chance, self._bodies if chance.random() < 0.2 else ())

    def send(self, raw: bytes) -> str:
        declared, _, body = raw.partition(b"\n")
        document = extract(
            io.BytesIO(body),
            url="http://a.test/fail",
            media_type=declared.decode("latin-1"),
            size=len(body),
            max_text=MOST_TEXT,
        )
        assert len(document.text) <= MOST_TEXT
        document.text.encode()  # no halves of characters
        return document.media_type


class RobotsDoor:
    """robots.txt."""

    name = "robots"
    _samples = (
        b"User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 3\n\nUser-agent: rehi\nDisallow: /%C3%B5/\nSitemap: http://a.test/s.xml",
        "User-agent: rehi\nDisallow: /õ\nDisallow: /*.php\n".encode("cp1257"),
        "\ufeffUser-agent: *\nDisallow:\n".encode("utf-16"),
        b"User-agent: " + b"*" * 300 + b"\nDisallow: /" + b"*a" * 300 + b"$\nCrawl-delay: 1e9\n",
    )

    def draw(self, chance: Random) -> bytes:
        return mutate(chance.choice(self._samples), chance, self._samples)

    def send(self, raw: bytes) -> str:
        answer = made_up(raw, media_type="text/plain; charset=x")
        rules = RobotRules(
            read_robots(Visit(url="http://a.test/robots.txt", started_at=NOW, seconds=0.1, answer=answer), NOW), PRODUCT
        )
        return " ".join(str(rules.allows(url)) for url in ("http://a.test/", "http://a.test/ab?c=" + "ab" * 500))


class ManifestDoor:
    """Manifests of backups and lists of their files, broken or written by somebody who knows how they are signed."""

    name = "manifests"

    def __init__(self) -> None:
        self._manifest = encode(
            Backup(
                number=1, made_at=NOW, rehi="0.1", worker="w", listing=("ab" * 32,), files=1, bytes=2, chunks=1, new_chunks=1,
                new_bytes=2, graph_is_current=True, settings={"fetch": {"delay": 2}}, notes=("a",),
            )
        )  # fmt: skip
        file = BackupFile(part=BackupPart.ARCHIVE, path="rehi-1.warc.gz", size=2, chunks=("ab" * 32,))
        self._files = b"".join(encode_files([file] * 3))

    def draw(self, chance: Random) -> bytes:
        kind = chance.randrange(4)
        if kind == 0:
            return b"m" + mutate(self._manifest, chance)
        if kind == 1:
            return b"f" + mutate(self._files, chance)
        if kind == 2:
            content = mutate_value(json.loads(self._manifest)["backup"], chance)
            whole = {"format": FORMAT, "sha256": _signed(content), "backup": content}
            return b"m" + json.dumps(mutate_value(whole, chance) if chance.random() < 0.2 else whole).encode()
        lines = [json.loads(line) for line in self._files.splitlines()]
        return b"f" + b"\n".join(json.dumps(mutate_value(line, chance)).encode() for line in lines) + b"\n"

    def send(self, raw: bytes) -> str:
        if raw[:1] == b"m":
            return f"backup {decode(raw[1:], where='here').number}"
        return f"{sum(1 for _ in decode_files([raw[1:]]))} files"


def _signed(content: object) -> str:
    try:
        return _digest(content)
    except ValueError:
        return ""


class DerivedDoor:
    """Records of what was read, broken or with facts that are none, and cursors of sources."""

    name = "derived"

    def __init__(self, folder: Path) -> None:
        self._shelf = FolderShelf(folder / "derived")
        self._files = DerivedFiles(self._shelf, worker="w1", clock=lambda: NOW)
        self._samples = [
            write_reading(
                reading,
                url="http://a.test/",
                digest=DIGEST,
                body=BODY,
                at=NOW,
                worker="w1",
                encoded=_encode(reading),
            )
            for reading in (READING, EMPTY)
        ]
        self._path = folder / "derived" / "derived-w1-00001.warc.gz"

    def draw(self, chance: Random) -> bytes:
        packed = chance.choice(self._samples)
        kind = chance.random()
        if kind < 0.05:
            return b"c" + mutate(b"12345", chance)
        if kind < 0.4:
            return b"r" + mutate(packed, chance)
        _, text, rest = unpack_record(packed)
        _, facts, _ = unpack_record(rest)
        facts = json.dumps(mutate_value(json.loads(facts), chance)).encode() if kind < 0.9 else mutate(facts, chance)
        shared = field_lines((("WARC-Date", "2026-03-01T00:00:00Z"), ("Rehi-Recipe", "x")))
        return (
            b"r"
            + _record("conversion", ("a",), shared, mutate(text, chance), "text/plain")
            + _record("metadata", ("b",), shared, facts, "application/json")
        )

    def send(self, raw: bytes) -> str:
        if raw[:1] == b"c":
            return "cursor" if read_cursor(raw[1:]) else "no cursor"
        self._path.write_bytes(raw[1:])
        reading = self._files.read(RecordRef(self._path.name, 0, max(len(raw) - 1, 1)))
        document = reading.document
        texts = (
            document.media_type,
            document.title,
            document.charset,
            document.language,
            document.base,
            *document.links,
        )
        assert all(isinstance(text, str) for text in (*texts, *(text for pair in document.metadata for text in pair)))
        return "read"


def inward_doors(folder: Path) -> list[Door]:
    """Return all of these."""
    world = World(seed=1, small=True)
    (folder / "derived").mkdir(parents=True)
    log = b"".join(world.crawl_log()).splitlines(keepends=True)
    lists = [b"".join(log[:40]), b"".join(log[-30:]), "\n".join(world.urls()[:40]).encode(),
             b"\xef\xbb\xbf# list\nwww.a.test/b\n1;http://a.test/;x\n", "http://õ.test/ä\n".encode("cp1257")]  # fmt: skip
    lists += [members([lists[0]]), members([lists[2], lists[2]])]
    url = "http://a.test/"
    records = [request(url), response(url), response(url, members([b"<p>Tere"]), "Content-Encoding: gzip"),
               response(url, b"5\r\n<p>Te\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), revisit(url, b"<p>Tere")]  # fmt: skip
    old = arc((url, b"HTTP/1.0 200 OK\r\n\r\n<p>"), (url, b"<p>no head"))
    crawls = [b"".join(records), members(records), frames(records), b"".join(old), members(old),
              b"".join(arc((url, b"HTTP/1.0 200 OK\r\n\r\n<p>"), version=2))]  # fmt: skip
    return [
        FileDoor("lists", lists, read_source, folder),
        FileDoor("crawls.warc.gz", crawls, read_crawl, folder),
        DocumentDoor(world),
        RobotsDoor(),
        ManifestDoor(),
        DerivedDoor(folder),
    ]
