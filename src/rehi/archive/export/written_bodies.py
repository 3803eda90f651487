"""Written bodies: those that an export has already, by digest; on disk, so that memory does not grow with them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from rehi.errors import DiskFull, EngineError
from rehi.model.version import Digest


@dataclass(frozen=True, slots=True)
class Original:
    """The record that has a body, with the fields by which revisits refer to it."""

    record_id: str
    url: str
    date: str  # as the record has it
    at: str  # the same in one form, so that moments can be compared


class WrittenBodies:
    """The originals of an export, in a small database that is deleted with its folder."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "written.db", isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE original (digest TEXT PRIMARY KEY, record_id TEXT, url TEXT, date TEXT, at TEXT) WITHOUT ROWID"
        )
        self._database.execute("BEGIN")

    def find(self, digest: Digest, *, at: str) -> Original | None:
        """Return the record in this export that has these bytes and is not later than ``at``; None if there is none."""
        query = "SELECT record_id, url, date, at FROM original WHERE digest = ? AND at <= ?"
        row = self._database.execute(query, (digest, at)).fetchone()
        return None if row is None else Original(*row)

    def add(self, digest: Digest, original: Original) -> None:
        """Add a body; it replaces one of the same digest."""
        row = (digest, original.record_id, original.url, original.date, original.at)
        try:
            self._database.execute("INSERT OR REPLACE INTO original VALUES (?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            if "full" in str(error):
                raise DiskFull("the disk of the export is full; make room and start again") from error
            raise EngineError(f"the export can't go on: {error}") from error

    def close(self) -> None:
        """Close the database."""
        self._database.close()
