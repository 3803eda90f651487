"""The archive: keeps visits as WARC records, and reads their bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from rehi.archive.body import RecordHeaders, open_body, read_checked_fields, read_fields_of, read_headers
from rehi.archive.compaction import Compacted, CompactionPlan, compact, own_files, plan_compaction
from rehi.archive.delta_writer import delta_may_pay, write_delta
from rehi.archive.exchange import Exchange
from rehi.archive.excision import Excised, excise, index_starts
from rehi.archive.files import FileSeries
from rehi.archive.moves import FollowingShelf
from rehi.archive.record import RecordFields
from rehi.archive.recovery import TornPart, recover
from rehi.archive.seal import index_name, seal_file
from rehi.archive.walk import SUFFIX, KeptVisit, Starts, Walk
from rehi.errors import ArchiveError
from rehi.model.http import NOT_MODIFIED
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Visit
from rehi.ports import Shelf

_CHECKED = 8 << 20  # bytes of a record that is read again when the same bytes come; more would keep others waiting


class Archive:
    """An archive on a shelf. Making one reads and writes nothing."""

    def __init__(
        self,
        shelf: Shelf,
        *,
        file_bytes: int,
        worker: str,
        software: str,
        clock: Callable[[], datetime],
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.sync = shelf.sync  # brings all that was kept to disk for good
        self._shelf = FollowingShelf(shelf)
        self.reach = shelf.reach  # has the place of sealed files do something, which shows that it is there
        self.shared = shelf.shared  # whether other workers see what is sealed
        self.files = FileSeries(
            shelf, name="rehi", worker=worker, dated=True, file_bytes=file_bytes, clock=clock,
            info={"software": software, **(settings or {})},
        )  # fmt: skip

    @property
    def shelf(self) -> Shelf:
        """The shelf with its files, on which records are found also after a compaction."""
        return self._shelf

    def keep(self, visit: Visit) -> RecordRef:
        """Append the request and the response; return the response's range. It is safe on disk only after ``sync``."""
        exchange = Exchange(visit, worker=self.files.worker, answered_by="response")
        return self.files.append_beside(exchange.request(), exchange.response())

    def keep_change(self, visit: Visit, *, base: RecordRef) -> RecordRef:
        """Append a new version as a delta on the one at ``base``, or whole if that is not worth it; return its range.

        ArchiveAway if ``base`` can't be read now: then the visit can be kept in another way.
        """
        if visit.answer is None or not delta_may_pay(visit.answer):
            return self.keep(visit)
        start = visit.answer.body.tell()
        exchange = Exchange(visit, worker=self.files.worker, answered_by="delta")
        record = None
        try:
            record = write_delta(self._shelf, exchange, base=base)
        finally:
            if record is None:
                visit.answer.body.seek(start)
        return self.keep(visit) if record is None else self.files.append([record])

    def keep_duplicate(self, visit: Visit, *, body: RecordRef) -> RecordRef:
        """Append the request and a revisit of the record at ``body``, for a 304 or the very same bytes; return its range.

        ArchiveError if that can't be read. Where the same bytes are in hand, all of it is read to see that (.02 ms for a whole
        record of 20 KB, .2 for the last of a chain), but for large ones and in a bucket.
        """
        exchange = Exchange(visit, worker=self.files.worker, answered_by="revisit")
        in_hand = visit.answer is not None and visit.answer.status != NOT_MODIFIED
        original = self._look_at(body) if in_hand else read_fields_of(self._shelf, body)
        return self.files.append_beside(exchange.request(), exchange.revisit(original))

    def find_fault(self, body: RecordRef) -> ArchiveError | None:
        """Return why a body can't be read, as far as it is looked at when the same bytes are in hand."""
        try:
            self._look_at(body)
        except ArchiveError as error:
            return error
        return None

    def _look_at(self, body: RecordRef) -> RecordFields:
        checked = not self.shared and body.length <= _CHECKED
        return (read_checked_fields if checked else read_fields_of)(self._shelf, body)

    def keep_unmodified(self, visit: Visit, *, digest: Digest) -> RecordRef:
        """Append the request and a revisit for a 304 whose first record can't be read now; return its range."""
        exchange = Exchange(visit, worker=self.files.worker, answered_by="revisit")
        return self.files.append_beside(exchange.request(), exchange.unmodified(digest))

    def holds(self, ref: RecordRef) -> bool:
        """Whether a record is on this shelf; it may be in the folder of another worker that shares the catalogue."""
        return self.has_file(ref.file)

    def close_file(self, *, began_before: datetime | None = None) -> bool:
        """Close the open file for good, if it is that old, so that it can be sealed; return whether there was one."""
        return bool(self.files.close(began_before=began_before))

    def unsealed(self) -> list[tuple[str, int]]:
        """Return the files of this worker that are finished and have no index yet, with their sizes."""
        names = {name for name, _ in self._shelf.files()}
        return [(file, size) for file, size in self.files.finished() if index_name(file) not in names]

    def seal(self, file: str, size: int, *, spool: Path | None = None) -> None:
        """Write the index of a finished file, and seal it."""
        seal_file(self._shelf, file, size, spool=spool)

    def plan_compaction(self, pruned: Iterable[RecordRef], *, at_once: bool, only_of: str = "") -> CompactionPlan:
        """Return how files must be written anew to drop these bodies; ``at_once`` if nobody writes meanwhile."""
        return plan_compaction(self._shelf, pruned, at_once=at_once, only_of=only_of)

    def compact(
        self,
        plan: CompactionPlan,
        *,
        worker: str,
        now: datetime,
        spool: Path | None = None,
        on_file: Callable[[str], None] = lambda _: None,
    ) -> Compacted:
        """Write the files of a plan anew, while others read on."""
        return compact(self._shelf, plan, worker=worker, now=now, spool=spool, on_file=on_file)

    def excise(
        self,
        files: Iterable[str],
        *,
        starts: Starts,
        worker: str,
        now: datetime,
        spool: Path | None = None,
        on_file: Callable[[str], None] = lambda _: None,
    ) -> Excised:
        """Write files anew without their damaged parts, while others read on; the old ones stay under another name."""
        return excise(self._shelf, files, starts=starts, worker=worker, now=now, spool=spool, on_file=on_file)

    def fields_of(self, ref: RecordRef) -> RecordFields:
        """Return the named fields of a record."""
        return read_fields_of(self._shelf, ref)

    def has_lost(self, ref: RecordRef) -> bool:
        """Whether a record lay in a file of this worker that is gone."""
        return own_files(self.files.worker).fullmatch(ref.file) is not None and not self.has_file(ref.file)

    def has_file(self, file: str) -> bool:
        """Whether a file is on this shelf, or its records were moved to another one."""
        return self._shelf.has(file)

    def is_sealed(self, file: str) -> bool:
        """Whether nothing is appended to a file any more."""
        return self.has_file(index_name(file))

    def place_of(self, ref: RecordRef) -> RecordRef:
        """Return the range at which a record is now."""
        return self._shelf.find(ref) or ref

    @property
    def compacted_at(self) -> datetime | None:
        """When files were last compacted; None if they never were."""
        self._shelf.look()
        return self._shelf.moved_at

    def walks(self, *, decode_deltas: bool = True, starts: Starts | None = None) -> Iterator[Walk]:
        """Yield a walk through each WARC file, whoever wrote it, but for those that were replaced.

        Where records begin after damage is asked of ``starts``, without which the indexes tell.
        """
        self._shelf.look()
        known = starts or partial(index_starts, self._shelf)
        for file, size in self._shelf.files():
            if file.endswith(SUFFIX) and not self._shelf.is_moved(file):
                yield Walk(self._shelf, file, size, decode_deltas=decode_deltas, starts=known)

    def open_body(self, ref: RecordRef) -> BinaryIO:
        """Return a stream of a record's body; RecordDamaged, at its end at the latest, if it is not as it was written."""
        return open_body(self._shelf, ref)

    def read_headers(self, ref: RecordRef) -> RecordHeaders:
        """Return the named fields and the HTTP head of a record."""
        return read_headers(self._shelf, ref)

    def recover(self, known_end: Callable[[str], int]) -> Iterator[KeptVisit | TornPart]:
        """Yield what is in this worker's files beyond their known ends, as ``recovery.recover`` does; to be called first."""
        try:
            for item in recover(self._shelf, known_end, owned=self.files.owns):
                if isinstance(item, TornPart) and not item.set_aside:
                    self.files.abandon(item.file)
                yield item
        finally:
            self.files.look_again()
