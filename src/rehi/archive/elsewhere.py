"""Elsewhere: files that the catalogue knows and this shelf does not have, since they lie in the folder of another worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import BinaryIO

from rehi.errors import LiesElsewhere, RecordMissing
from rehi.model.version import RecordRef
from rehi.ports import Shelf

Owners = Callable[[], Mapping[str, str]]  # returns the workers by the files that lie in their folders


class OwnedShelf:
    """A shelf that names the worker with which a file lies that is not here."""

    def __init__(self, shelf: Shelf, *, worker: str, owners: Owners) -> None:
        self._shelf, self._worker, self._ask_owners = shelf, worker, owners
        self._owners: Mapping[str, str] = {}  # as they were last asked for: a file's owner never changes
        # In all that does not concern who has a file the shelf is asked itself.
        self.shared, self.files, self.is_sealed, self.reach = shelf.shared, shelf.files, shelf.is_sealed, shelf.reach
        self.append, self.sync, self.set_aside = shelf.append, shelf.sync, shelf.set_aside
        self.seal, self.put, self.remove, self.has = shelf.seal, shelf.put, shelf.remove, shelf.has

    def open(self, ref: RecordRef) -> BinaryIO:
        """Return a stream of a range; LiesElsewhere if its file is another worker's, RecordMissing if it is nobody's."""
        try:
            return self._shelf.open(ref)
        except RecordMissing as error:
            owner = "" if self._shelf.has(ref.file) else self._owner_of(ref.file)
            if owner in ("", self._worker):
                raise
            raise LiesElsewhere(f"{ref.file} lies with the worker {owner}: ask there") from error

    def _owner_of(self, file: str) -> str:
        if file not in self._owners:
            self._owners = self._ask_owners()
        return self._owners.get(file, "")
