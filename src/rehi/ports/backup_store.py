"""A store for backups: a folder or a bucket in which objects lie under their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class BackupStore(Protocol):
    """Named objects, each written as a whole; names have slashes like paths. Several threads may use it."""

    @property
    def where(self) -> str:
        """Its address, as people write it."""

    def read(self, name: str) -> bytes:
        """Return an object's bytes; NotFound if there is none of that name."""

    def write(self, name: str, content: bytes) -> None:
        """Write an object; it is there as a whole or not at all, and replaces one of its name."""

    def create(self, name: str, content: bytes) -> bool:
        """Write an object unless there is one of that name; return whether it was written."""

    def list(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield the names and sizes of the objects below a folder, at any depth; all of them for an empty name."""

    def delete(self, name: str) -> None:
        """Delete an object; one that is not there is fine."""

    def sync(self) -> None:
        """See that all that was written is there for good."""
