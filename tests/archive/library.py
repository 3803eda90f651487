"""A small library: a house whose archive and catalogue hold visits made by hand, as a harvest would have kept them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rehi.app import House
from rehi.archive import Archive
from rehi.engines.folder import FolderShelf
from rehi.frontier import VISIT_RULES
from rehi.model.capture import Capture, CaptureFilter
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Answer, Outcome, Visit, Visited
from rehi.settings import load_settings

START = datetime(2024, 3, 9, 12, 0, 0, 123_456, tzinfo=UTC)
HTML = "text/html; charset=utf-8"
REQUEST = (("User-Agent", "rehi/test"), ("Accept", "*/*"))


@dataclass(slots=True)
class Library:
    """Each visit is a minute later than the one before, unless it says when it was."""

    house: House
    archive: Archive
    newest: dict[str, tuple[Digest, RecordRef]] = field(default_factory=dict)
    bodies: dict[Digest, RecordRef] = field(default_factory=dict)
    visits: int = 0

    def keep(
        self,
        url: str,
        body: bytes,
        *,
        media_type: str = HTML,
        status: int = 200,
        to: str = "",
        at: datetime | None = None,
    ) -> datetime:
        """Visit a URL that answers so; when that was."""
        self.visits += 1
        moment = at or START + timedelta(minutes=self.visits)
        digest = Digest(f"sha256:{hashlib.sha256(body).hexdigest()}")
        headers = [("Server", "Õhuke/1.0"), ("Content-Type", media_type)] if media_type else []
        if to:
            headers.append(("Location", to))
        answer = Answer(
            status=status, reason="OK", http_version="1.1", request_headers=(("Host", "h"), *REQUEST),
            headers=tuple(headers), address="192.0.2.7", body=io.BytesIO(body), size=len(body), digest=digest,
        )  # fmt: skip
        visit = Visit(url=url, started_at=moment, seconds=0.1, answer=answer)
        before = self.newest.get(url)
        if to:
            self._record(url, moment, Outcome.REDIRECT, status, self.archive.keep(visit), to=to)
        elif status == 304:
            assert before is not None
            record = self.archive.keep_duplicate(visit, body=before[1])
            self._record(url, moment, Outcome.UNCHANGED, status, record, digest=before[0], body=before[1])
        else:
            known = self.bodies.get(digest)
            if known is not None:
                record = self.archive.keep_duplicate(visit, body=known)
            elif before is not None:
                record = self.archive.keep_change(visit, base=before[1])
            else:
                record = self.archive.keep(visit)
            place = self.bodies.setdefault(digest, record)
            same = before is not None and before[0] == digest
            outcome = Outcome.UNCHANGED if same else Outcome.NEW
            self.newest[url] = digest, place
            self._record(
                url, moment, outcome, status, record,
                digest=digest, body=place, size=len(body), media_type=media_type,
            )  # fmt: skip
        return moment

    def captures(self, **where: object) -> list[Capture]:
        return list(self.house.catalogue.captures(CaptureFilter(**where)))  # type: ignore[arg-type]

    def _record(
        self,
        url: str,
        at: datetime,
        outcome: Outcome,
        status: int,
        record: RecordRef,
        *,
        digest: Digest | None = None,
        body: RecordRef | None = None,
        size: int = 0,
        media_type: str = "",
        to: str = "",
    ) -> None:
        self.archive.sync()
        visited = Visited(
            url=url, at=at, outcome=outcome, next_at=at + timedelta(days=30), status=status, size=size, digest=digest,
            media_type=media_type, record=record, body=body, redirect_to=to,
        )  # fmt: skip
        self.house.catalogue.record([visited], [], rules=VISIT_RULES, worker="w1", now=at)


@contextmanager
def open_library(folder: Path) -> Iterator[Library]:
    """An empty one."""
    with House(load_settings(data=folder)) as house:
        house.begin_catalogue()
        shelf = FolderShelf(house.archive_folder)
        try:
            archive = Archive(shelf, file_bytes=10**9, worker="w1", software="rehi/test", clock=lambda: START)
            yield Library(house, archive)
        finally:
            shelf.close()
