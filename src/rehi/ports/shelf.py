"""A shelf: a place for the archive's files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, Protocol

from rehi.errors import RehiError
from rehi.model.version import RecordRef

Report = Callable[[str, RehiError | None], None]  # a file, and what is wrong with it; None when it no longer is


class Shelf(Protocol):
    """A place for append-only files: a folder now, objects in a bucket when they are sealed."""

    @property
    def shared(self) -> bool:
        """Whether all workers see what is sealed."""

    def append(self, file: str, chunks: Iterable[bytes]) -> RecordRef:
        """Write at the end of a file, which is made if need be. Not safe on disk before ``sync``."""

    def sync(self) -> None:
        """See that all that was appended is on disk for good."""

    def open(self, ref: RecordRef) -> BinaryIO:
        """Open a stream of just that range; RecordMissing if it is not there."""

    def files(self) -> Sequence[tuple[str, int]]:
        """Return the files' names and sizes, in the order of the names."""

    def has(self, file: str) -> bool:
        """Whether a file is there, cheap enough for every record; ArchiveAway if nobody can tell now."""

    def reach(self) -> None:
        """Ask the place of sealed files for something small; ArchiveAway if it does not answer."""

    def set_aside(self, file: str, offset: int) -> None:
        """Move what follows ``offset`` to a place of its own, and end the file there."""

    def seal(self, file: str) -> None:
        """Close a file for good: nothing is appended any more, and it may be brought to where it stays."""

    def put(self, file: str, chunks: Iterable[bytes]) -> None:
        """Write a file that is whole at once, on disk for good and sealed; one of that name before is replaced."""

    def remove(self, file: str) -> None:
        """Remove a file; one that is not there is fine."""

    def is_sealed(self, file: str) -> bool:
        """Whether nothing can be appended to a file any more, as far as this shelf remembers it."""


class ShelfEngine(Shelf, Protocol):
    """A shelf as the wiring has it: opened, looked after and closed."""

    def start_uploads(self, report: Report) -> None:
        """Begin to bring sealed files to where they stay, and report what goes wrong with it; EngineError if it can't be used.

        ArchiveAway if it does not answer now.
        """

    def check(self) -> str:
        """Return one line on the place; an error says what is wrong there."""

    def close(self) -> None:
        """Sync, and close all files."""
