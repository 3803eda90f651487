"""Blame: for each row of a table the version since which it has been as it is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from rehi.compare import Beginning, Table, TableTooLarge, both_headers, to_table, trace_rows
from rehi.errors import ArchiveError, BodyPruned
from rehi.model.version import Version
from rehi.operations.diff.body import DiffKind, ParsedBody, read_body

if TYPE_CHECKING:
    from rehi.archive import Archive

SECONDS = 25.0  # that are spent on going back
VERSIONS = 2_000  # that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedRow:
    """A row, and the version with which it began to be as it is; FIRST means that it may have been so before."""

    number: int
    cells: tuple[str, ...]
    version: int
    since: datetime
    beginning: Beginning


@dataclass(slots=True)
class _PastTables:
    """Earlier versions, read one after another for as long as there is time."""

    archive: Archive
    content: ParsedBody
    versions: Sequence[Version]
    seen: list[Version] = field(default_factory=list)
    passed_over: int = 0
    broken_off: bool = False

    def tables(self, header: tuple[str, ...]) -> Iterator[Table]:
        """Yield the tables, the latest first; versions that are none, or whose bytes can't be had, are passed over."""
        until = time.monotonic() + SECONDS
        last: tuple[str, Table | None] = ("", None)
        for place, version in enumerate(self.versions):
            if time.monotonic() > until or place >= VERSIONS:
                self.broken_off = True
                return
            if version.digest != last[0]:
                last = (version.digest, self._table(version, header))
            if last[1] is None:
                self.passed_over += 1
                continue
            self.seen.append(version)
            yield last[1]

    def _table(self, version: Version, header: tuple[str, ...]) -> Table | None:
        try:
            content = read_body(self.archive, version, url=self.content.url, max_text=self.content.max_text)
            if content.kind is not DiffKind.TABLE:
                return None
            rows = content.rows()
            named = both_headers(rows, [header, *rows[1:3]])[0] if header else False
            return to_table(rows, header=named)
        except (ArchiveError, BodyPruned, TableTooLarge):
            return None


def blame_rows(
    archive: Archive, content: ParsedBody, key: tuple[str, ...], earlier: Sequence[Version]
) -> tuple[list[BlamedRow], list[str]]:
    """Return the rows of a table in their order, with the notes that go with them; ``earlier`` goes back in time."""
    rows = content.rows()
    headed = both_headers(rows, rows)[0]
    table = to_table(rows, header=headed)
    past = _PastTables(archive, content, earlier)
    origins = trace_rows(table, key, past.tables(table.columns if headed else ()))
    line = [content.version, *past.seen]
    blamed = [
        BlamedRow(
            number=at + 1,
            cells=row,
            version=line[origin.steps].number,
            since=line[origin.steps].taken_at,
            beginning=origin.beginning,
        )
        for at, (row, origin) in enumerate(zip(table.rows, origins, strict=True))
    ]
    notes = []
    if past.passed_over:
        notes.append(
            f"For blame, {past.passed_over:,} earlier versions were passed over: they are no tables or can't be read."
        )
    if past.broken_off:
        notes.append(f"Blame went back {len(past.seen):,} of {len(earlier):,} versions; older rows may be older still.")
    return blamed, notes
