"""How a source gets at bytes: a file is opened where it lies, and what lies at a URL is had from the archive when visited."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, Protocol

from rehi.errors import ArchiveError, NotFound, SourceError
from rehi.model.listing import DocumentRow
from rehi.model.source import Source
from rehi.model.version import RecordRef
from rehi.model.visit import Outcome
from rehi.ports import Catalogue
from rehi.sources.kind import Awaited, Fetched
from rehi.sources.lines import open_file
from rehi.sources.urls import is_visitable, normalise

_HOPS = 50  # redirects that are followed; each was judged when it was visited
_NEXT = timedelta(microseconds=1)  # after a visit, any later one counts
_FOR_GOOD = (Outcome.FORBIDDEN, Outcome.GONE)
_TRY_AGAIN = frozenset({0, 408, 425, 429})  # and all of 500 and above


class Bodies(Protocol):
    """What is needed of the archive."""

    def holds(self, ref: RecordRef) -> bool:
        """Whether a record is here."""

    def open_body(self, ref: RecordRef) -> BinaryIO:
        """Return a stream of a record's body."""


@dataclass(slots=True)
class SourceFetch:
    """How the discovery of one source gets at bytes."""

    source: Source
    catalogue: Catalogue
    archive: Bodies
    clock: Callable[[], datetime]
    spool: Path
    max_bytes: int

    @contextmanager
    def __call__(self, place: str) -> Iterator[Fetched]:
        """Open what lies at a path or a URL; Awaited if it must be visited first, SourceError if it can't be had."""
        if "://" not in place:
            path = Path(place)
            with open_file(path):
                yield Fetched(path, path.stat().st_size)
            return
        url = normalise(place)
        if url is None or not is_visitable(url):
            raise SourceError(f"{place} is not a URL that can be visited")
        with NamedTemporaryFile(dir=self.spool, prefix="source-") as file:
            media_type = self._copy(self._find(url), Path(file.name))
            yield Fetched(Path(file.name), Path(file.name).stat().st_size, media_type)

    def _find(self, url: str) -> DocumentRow:
        """Return what is at the end of the redirects from a URL, if all of them were visited since the source was started."""
        began_at = self.source.began_at or self.source.added_at
        for _ in range(_HOPS):
            try:
                row = self.catalogue.document(url)
            except NotFound:
                raise Awaited(url, since=began_at) from None
            if row.visited_at is None or row.visited_at < began_at:
                raise Awaited(url, since=began_at)
            if row.state != Outcome.REDIRECT:
                self._check(row, row.visited_at)
                return row
            url = row.redirect_to
        raise SourceError(f"{self.source.location} can't be had: its redirects do not end")

    def _check(self, row: DocumentRow, visited_at: datetime) -> None:
        if row.state in _FOR_GOOD:
            forbidden = "it may not be visited; add a copy of it as a file, or ask the site and change [fetch]"
            why = forbidden if row.state == Outcome.FORBIDDEN else "it is gone; add the address where it lies now"
            raise SourceError(f"{row.url} can't be had: {why}")
        if row.state == Outcome.FAILED:
            if row.status in _TRY_AGAIN or row.status >= 500:
                raise Awaited(row.url, since=visited_at + _NEXT, at_once=False)
            raise SourceError(f"{row.url} can't be had: the server answered {row.status}")

    def _copy(self, row: DocumentRow, path: Path) -> str:
        """Copy the newest version of a resource to a file, and return its declared type."""
        version = max(self.catalogue.versions(row.url), key=lambda one: (one.taken_at, one.number))
        if version.dropped:
            raise SourceError(f"{row.url} can't be had: its bytes were dropped by a rule; start it again to visit it")
        if not self.archive.holds(version.body):  # it lies with another worker, who is asked when it is visited again
            raise Awaited(row.url, since=(row.visited_at or self.clock()) + _NEXT)
        try:
            with self.archive.open_body(version.body) as body, path.open("wb") as file:
                shutil.copyfileobj(body, file)
        except ArchiveError as error:
            raise SourceError(f"{row.url} can't be had: {error}; start it again to visit it") from error
        return version.media_type
