"""A house with a history that is made by hand: visits at given times, kept and recorded as a harvest does it."""

from __future__ import annotations

import hashlib
import io
from datetime import UTC, datetime, timedelta

from rehi.app import House
from rehi.archive import Archive
from rehi.engines.folder import FolderShelf
from rehi.frontier import VISIT_RULES
from rehi.model.version import Digest, RecordRef, Version
from rehi.model.visit import Answer, Headers, Outcome, Visit, Visited

NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
HTML = "text/html; charset=utf-8"


class Keeper:
    """Writes into the archive and the catalogue of a house."""

    def __init__(self, house: House, *, file_bytes: int = 10**9) -> None:
        self.house = house
        self._shelf = FolderShelf(house.archive_folder)
        self._archive = Archive(
            self._shelf, file_bytes=file_bytes, worker=house.worker, software="rehi/test", clock=lambda: NOON
        )

    def close(self) -> None:
        self._shelf.close()

    def seal(self) -> None:
        """Seal the files that are finished."""
        for file, size in self._archive.unsealed():
            self._archive.seal(file, size)

    def new(
        self,
        url: str,
        body: bytes,
        at: datetime,
        *,
        media_type: str = HTML,
        headers: Headers = (),
        base: RecordRef | None = None,
        status: int = 200,
    ) -> Version:
        """A visit that brought these bytes; exact duplicates are kept once, and with a base as a delta."""
        visit = self._visit(url, body, at, (("Content-Type", media_type), *headers), status=status)
        digest = Digest(f"sha256:{hashlib.sha256(body).hexdigest()}")
        body_on_record = self.house.catalogue.find_bodies([digest]).get(digest)
        known = body_on_record.place if body_on_record is not None and body_on_record.pruned is None else None
        if known is not None:
            record = self._archive.keep_duplicate(visit, body=known)
        elif base is not None:
            record = self._archive.keep_change(visit, base=base)
        else:
            record = self._archive.keep(visit)
        self._record(
            url, at, Outcome.NEW, status, size=len(body), digest=digest, media_type=media_type,
            record=record, body=known or record,
        )  # fmt: skip
        return next(one for one in self.house.catalogue.versions(url) if one.taken_at == at)

    def unchanged(self, url: str, at: datetime) -> None:
        """A visit that was answered with 304."""
        newest = max(self.house.catalogue.versions(url), key=lambda one: one.taken_at)
        record = self._archive.keep_duplicate(self._visit(url, b"", at, (), status=304), body=newest.body)
        self._record(url, at, Outcome.UNCHANGED, 304, record=record)

    def redirect(self, url: str, to: str, at: datetime, *, status: int = 301) -> None:
        """A visit that was sent elsewhere."""
        record = self._archive.keep(self._visit(url, b"", at, (("Location", to),), status=status))
        self._record(url, at, Outcome.REDIRECT, status, record=record, redirect_to=to)

    def _visit(self, url: str, body: bytes, at: datetime, headers: Headers, *, status: int) -> Visit:
        answer = Answer(
            status=status, reason="As It Was", http_version="1.1", request_headers=(("Accept", "*/*"),),
            headers=headers, address="127.0.0.1", body=io.BytesIO(body), size=len(body),
            digest=Digest(f"sha256:{hashlib.sha256(body).hexdigest()}"),
        )  # fmt: skip
        return Visit(url=url, started_at=at, seconds=0.1, answer=answer)

    def _record(self, url: str, at: datetime, outcome: Outcome, status: int, **said: object) -> None:
        self._archive.sync()
        visited = Visited(
            url=url, at=at, outcome=outcome, status=status, next_at=NOON + timedelta(days=36_500), **said  # type: ignore[arg-type]
        )  # fmt: skip
        self.house.catalogue.record([visited], [], rules=VISIT_RULES, worker=self.house.worker, now=at)


def at(days: float) -> datetime:
    """A moment that many days after NOON."""
    return NOON + timedelta(days=days)
