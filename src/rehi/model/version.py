"""A version: the bytes that a resource had at one time, and where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NewType

Digest = NewType("Digest", str)  # "sha256:" and 64 hexadecimal digits of the decoded body


@dataclass(frozen=True, slots=True)
class RecordRef:
    """Where a record lies: a gzip member of a WARC file."""

    file: str
    offset: int
    length: int

    @property
    def end(self) -> int:
        """The offset of what follows."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a resource was from ``taken_at`` until the next version."""

    id: int
    resource_id: int
    number: int  # counted from 1 within the resource, as they arrived; ``taken_at`` says what came before what
    taken_at: datetime
    digest: Digest
    size: int
    media_type: str  # as the server declared it
    status: int
    record: RecordRef  # the record of this visit
    body: RecordRef  # the record that holds the bytes (another one for an exact duplicate)
    dropped: bool = False  # by a rule: the bytes are kept no more
