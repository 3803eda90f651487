"""Files in folders: ``<date>/<host>/<hash of the URL>``, and a table that describes each of them."""

from __future__ import annotations

import csv
import re
from hashlib import sha224, sha256
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from rehi.archive.body import open_body
from rehi.archive.export.answer import check_body, chunks_of
from rehi.archive.export.tally import Exported
from rehi.archive.record import warc_date
from rehi.errors import ArchiveError
from rehi.model.capture import Capture
from rehi.model.version import Digest
from rehi.ports import Shelf

_COLUMNS = ("url", "time", "outcome", "status", "type", "digest", "size", "path")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # cells that begin so are run by spreadsheet programs
_HOST = 200  # characters; a name in a folder can have 255 bytes


class FileExport:
    """Writes each version as a file; later visits with the same bytes point to the same file."""

    INDEX = "index.csv"

    def __init__(self, shelf: Shelf, folder: Path, *, exported: Exported) -> None:
        self._shelf, self._folder, self._exported = shelf, folder, exported
        self._index: TextIO = (folder / self.INDEX).open("x", encoding="utf-8", errors="replace", newline="")
        self._table = csv.writer(self._index)
        self._table.writerow(_COLUMNS)
        self._url = ""
        self._paths: dict[Digest, str] = {}  # of this URL's bodies
        self._taken: set[str] = set()  # by this URL

    def add(self, capture: Capture) -> None:
        """Write the row of a capture, and its file unless one of the same URL has its bytes already."""
        if capture.url != self._url:  # captures come URL by URL
            self._url, self._paths, self._taken = capture.url, {}, set()
        if capture.dropped:
            self._exported.leave_out(capture)
            return
        path = ""
        try:
            if capture.digest is not None:
                path = self._paths.get(capture.digest) or self._write(capture, capture.digest)
        except ArchiveError as error:
            self._exported.leave_out(capture, error)
            return
        self._exported.captures += 1
        moment, media_type = warc_date(capture.at), _harmless(capture.media_type)
        row = (capture.url, moment, capture.outcome.value, capture.status, media_type)
        self._table.writerow((*row, capture.digest or "", capture.size, path))

    def finish(self) -> None:
        """Complete the table."""
        self._index.close()

    def close(self) -> None:
        """Close the table."""
        self._index.close()

    def _write(self, capture: Capture, digest: Digest) -> str:
        path = self._path(capture)
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        size, sha = 0, sha256()
        try:
            with open_body(self._shelf, capture.body or capture.record) as body, target.open("xb") as file:
                for chunk in chunks_of(body):
                    file.write(chunk)
                    sha.update(chunk)
                    size += len(chunk)
            check_body(Digest(f"sha256:{sha.hexdigest()}"), size, expected_digest=digest, expected_size=capture.size)
        except ArchiveError:
            target.unlink(missing_ok=True)
            raise
        self._exported.bytes += size
        self._paths[digest] = path
        self._exported.counts["whole"] += 1
        return path

    def _path(self, capture: Capture) -> str:
        """Return a path that is free: that of a second version of the same day has its time in it."""
        name = sha224(capture.url.encode("utf-8", "surrogatepass")).hexdigest()
        start = f"{capture.at:%Y-%m-%d}/{_host(capture.url)}/{name}"
        candidates = (start, f"{start}-{capture.at:%H%M%S}", f"{start}-{capture.at:%H%M%S%f}")
        path = next(
            candidate for candidate in candidates if candidate not in self._taken
        )  # no two visits have the same microsecond
        self._taken.add(path)
        return path


def _host(url: str) -> str:
    """Return the host and port of a URL as the name of a folder."""
    try:
        place = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        place = ""
    return re.sub(r"[^a-z0-9.-]+", "_", place.lower())[:_HOST].strip(".") or "_"


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
