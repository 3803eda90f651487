"""WACZ 1.1.1: plain WARC, its index and a list of pages in one zip, of which browsers can read any part."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast

from rehi.archive.export.tally import Exported
from rehi.archive.export.warc import ExportInfo, WarcExport
from rehi.archive.member import CHUNK, pack
from rehi.archive.record import record_id, warc_date
from rehi.model.capture import Capture
from rehi.model.media import MediaGroup, by_name
from rehi.model.visit import Outcome
from rehi.ports import Shelf

VERSION = "1.1.1"
_LINES = 3_000  # of the index in one gzip member, which a reader must fetch as a whole
_INDEX = "index.cdx.gz"


class WaczExport:
    """Writes captures into one WACZ file."""

    def __init__(
        self,
        shelf: Shelf,
        target: Path,
        *,
        spool: Path,
        info: ExportInfo,
        file_bytes: int,
        exported: Exported,
        title_of: Callable[[Capture], str],
    ) -> None:
        self._info, self._exported, self._title_of = info, exported, title_of
        self._package = _ZipPackage(target, made_at=info.made_at)
        self._warcs = WarcExport(
            shelf, self._package, folder="archive/", spool=spool, info=info,
            file_bytes=file_bytes, exported=exported,
        )  # fmt: skip
        self._pages = TemporaryFile(dir=spool)  # noqa: SIM115 - closed by close()
        self._main: tuple[str, str] | None = None
        self._write_page({"format": "json-pages-1.0", "id": "pages", "title": "All pages"})

    def add(self, capture: Capture) -> None:
        """Write a capture; each version of a web page is added to the list of pages."""
        is_page = by_name(capture.media_type).group is MediaGroup.PAGE
        if not self._warcs.add(capture) or capture.outcome is not Outcome.NEW or not is_page:
            return
        moment = _moment(capture.at)
        page = {"id": record_id("page", warc_date(capture.at), capture.url)[10:-1], "url": capture.url, "ts": moment}
        title = self._title_of(capture)
        self._write_page({**page, "title": title} if title else page)
        self._main = self._main or (capture.url, moment)

    def finish(self) -> None:
        """Write the index, the list of pages and the description of the package."""
        self._warcs.finish()
        package = self._package
        places: list[str] = []
        with package.open(f"indexes/{_INDEX}") as index:
            for line in write_in_blocks(self._warcs.index, index):
                places.append(line)
        package.write("indexes/index.idx", "".join(places).encode())
        self._pages.seek(0)
        with package.open("pages/pages.jsonl", deflate=True) as pages:
            while chunk := self._pages.read(CHUNK):
                pages.write(chunk)
        described = json.dumps(self._describe(), indent=2, ensure_ascii=False).encode("utf-8", "replace")
        package.write("datapackage.json", described)
        digest = {"path": "datapackage.json", "hash": f"sha256:{sha256(described).hexdigest()}"}
        package.write("datapackage-digest.json", json.dumps(digest, indent=2).encode())
        package.finish()

    def close(self) -> None:
        """Close all files."""
        self._warcs.close()
        self._pages.close()
        self._package.close()

    def _write_page(self, page: dict[str, str]) -> None:
        self._pages.write(json.dumps(page).encode() + b"\n")

    def _describe(self) -> dict[str, object]:
        info = self._info
        main = {} if self._main is None else {"mainPageUrl": self._main[0], "mainPageDate": self._main[1]}
        return {
            "profile": "data-package",
            "wacz_version": VERSION,
            "title": info.title,
            "description": info.description,
            "created": _moment(info.made_at),
            "software": info.software,
            **main,
            "resources": self._package.resources,
        }


def write_in_blocks(lines: Iterable[str], index: BinaryIO) -> Iterator[str]:
    """Write lines as gzip members, one after the other; yield for each where it begins, and with which line."""
    left, offset = iter(lines), 0
    meta = {"format": "cdxj-gzip-1.0", "filename": _INDEX}
    yield f"!meta 0 {json.dumps(meta)}\n"
    while block := list(islice(left, _LINES)):
        packed = pack("".join(f"{line}\n" for line in block).encode())
        index.write(packed)
        key, moment, _ = block[0].split(" ", 2)
        entry = {
            "offset": offset,
            "length": len(packed),
            "digest": f"sha256:{sha256(packed).hexdigest()}",
            "filename": _INDEX,
        }
        yield f"{key} {moment} {json.dumps(entry)}\n"
        offset += len(packed)


class _ZipPackage:
    """A zip, and the list of its files. They are stored uncompressed, so that any part of them can be read."""

    def __init__(self, target: Path, *, made_at: datetime) -> None:
        self._zip = zipfile.ZipFile(target, "x", allowZip64=True)
        self._date = made_at.astimezone(UTC).timetuple()[:6]
        self.resources: list[dict[str, str | int]] = []

    def open(self, name: str, *, deflate: bool = False) -> BinaryIO:
        """Return the next file to write; only one at a time."""
        entry = zipfile.ZipInfo(name, self._date)
        entry.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
        entry.external_attr = 0o644 << 16
        return cast("BinaryIO", _ZipEntry(self._zip.open(entry, "w", force_zip64=not deflate), name, self.resources))

    def write(self, name: str, content: bytes) -> None:
        """Write a small file."""
        with self.open(name) as entry:
            entry.write(content)

    def finish(self) -> None:
        """Complete the zip."""
        self._zip.close()

    def close(self) -> None:
        """Close the file, complete or not."""
        with suppress(OSError, ValueError):
            self._zip.close()


class _ZipEntry:
    """A file that is written into the zip, counted and hashed meanwhile."""

    def __init__(self, stream: object, name: str, resources: list[dict[str, str | int]]) -> None:
        self._stream = cast("BinaryIO", stream)
        self._name, self._resources = name, resources
        self._hash, self._size = sha256(), 0

    def __enter__(self) -> _ZipEntry:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, chunk: bytes) -> int:
        self._hash.update(chunk)
        self._size += len(chunk)
        return self._stream.write(chunk)

    def close(self) -> None:
        self._stream.close()
        self._resources.append(
            {
                "name": self._name.rpartition("/")[2],
                "path": self._name,
                "hash": f"sha256:{self._hash.hexdigest()}",
                "bytes": self._size,
            }
        )


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
