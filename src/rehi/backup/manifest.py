"""The manifest of a backup: what it holds, when it was made and by whom; written last, so that it is never half a truth."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import Any

from rehi.backup.chunk import DIGEST
from rehi.errors import BackupDamaged, StoreVersionError
from rehi.model.pieces import cut_lines, join_lines
from rehi.model.plain import to_plain

FORMAT = 1
FOLDER = "backups"
_EVERY = 32  # files in a piece of the list


class BackupPart(StrEnum):
    """The parts of a house that a backup may hold."""

    CATALOGUE = "catalogue"
    ARCHIVE = "archive"
    DERIVED = "derived"
    GRAPH = "graph"
    SOURCES = "sources"  # files that were uploaded to be read


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupFile:
    """A file as it is in a backup."""

    part: BackupPart
    path: str  # below the part's folder
    size: int
    chunks: tuple[str, ...]  # digests, in order
    modified: int = 0  # nanoseconds since 1970; 0 if nobody knows
    sealed: bool = False  # nothing is ever appended to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """One backup: all that a house had at a moment."""

    number: int
    made_at: datetime
    rehi: str  # the version that made it
    worker: str  # whose data folder it is
    listing: tuple[str, ...]  # the chunks with the list of its files
    files: int
    bytes: int  # of all files
    chunks: int  # different ones
    new_chunks: int  # that no earlier backup had
    new_bytes: int  # as they are stored
    graph_is_current: bool  # whether the graph says all that the catalogue takes for said
    settings: Mapping[str, Any] = field(default_factory=dict)  # that are no defaults; without secrets
    notes: tuple[str, ...] = ()  # what was not well in the house


def manifest_name(number: int) -> str:
    """Return the name of a manifest in the store."""
    return f"{FOLDER}/{number:08}.json"


def encode(backup: Backup) -> bytes:
    """Return a manifest as JSON, with the digest of what it says."""
    content = to_plain(backup)
    whole = {"format": FORMAT, "sha256": _digest(content), "backup": content}
    return json.dumps(whole, ensure_ascii=False, indent=1).encode()


def decode(packed: bytes, *, where: str) -> Backup:
    """Return the backup of a manifest; BackupDamaged if it is not what was written, StoreVersionError if it is too new."""
    try:
        whole = json.loads(packed)
        if int(whole["format"]) > FORMAT:
            raise StoreVersionError(f"{where} has format {whole['format']}, and this rehi reads {FORMAT}: upgrade rehi")
        if whole["sha256"] != _digest(whole["backup"]):
            raise ValueError("its digest is another one")
        backup: Backup = _reader(Backup).validate_python(whole["backup"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise BackupDamaged(f"{where} is damaged: it is not the manifest that was written") from error
    return backup


def encode_files(files: Iterable[BackupFile]) -> Iterator[bytes]:
    """Yield a list of files as pieces of JSON lines."""
    lines = (
        (file.path.encode(), json.dumps(to_plain(file), ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        for file in files
    )
    return cut_lines(lines, every=_EVERY)


def decode_files(pieces: Iterable[bytes]) -> Iterator[BackupFile]:
    """Yield the files of a list; BackupDamaged for one whose path leads elsewhere."""
    for line in join_lines(pieces):
        try:
            file: BackupFile = _reader(BackupFile).validate_python(json.loads(line))
        except ValueError as error:
            raise BackupDamaged("the list of files can't be read: it was written by another program") from error
        steps = file.path.split("/")
        if file.size < 0 or "\0" in file.path or not all(step.strip(".") for step in steps):
            raise BackupDamaged(f"a backup may not hold a file called {file.path[:80]!r}")
        if not all(map(DIGEST.fullmatch, file.chunks)):
            raise BackupDamaged(f"the list of files names chunks of {file.path[:80]!r} that can't be")
        yield file


def _digest(content: Any) -> str:
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@cache
def _reader(kind: type) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
