"""The archive: keeps visits as records, and gives their bodies back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from rehi.archive.body import RecordHeaders, open_body, read_fields_of, read_headers
from rehi.archive.change import may_pay, write_delta
from rehi.archive.compaction import Compacted, Plan, compact, plan_compaction
from rehi.archive.exchange import Exchange
from rehi.archive.files import FileSeries
from rehi.archive.moves import FollowingShelf
from rehi.archive.record import RecordFields
from rehi.archive.recovery import Torn, recover
from rehi.archive.seal import index_name, seal_file
from rehi.archive.walk import SUFFIX, Kept, Walk
from rehi.model.version import RecordRef
from rehi.model.visit import Visit
from rehi.ports import Shelf


class Archive:
    """Every exchange as it was. Making one costs nothing and touches nothing; reading needs no other step."""

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
        self._shelf = shelf = FollowingShelf(shelf)
        self._files = FileSeries(
            shelf, name="rehi", worker=worker, dated=True, file_bytes=file_bytes, clock=clock,
            info={"software": software, **(settings or {})},
        )  # fmt: skip

    @property
    def shelf(self) -> Shelf:
        """Where its files lie."""
        return self._shelf

    def keep(self, visit: Visit) -> RecordRef:
        """Append the request and the response with its body; the response's place. Not safe on disk before ``sync``."""
        exchange = Exchange(visit, worker=self._files.worker, answered_by="response")
        return self._files.append_beside(exchange.request(), exchange.response())

    def keep_change(self, visit: Visit, *, base: RecordRef) -> RecordRef:
        """Append the answer as what is different from the version at ``base``, or whole where that does not pay."""
        if visit.answer is None or not may_pay(visit.answer):
            return self.keep(visit)
        start = visit.answer.body.tell()
        exchange = Exchange(visit, worker=self._files.worker, answered_by="delta")
        record = write_delta(self._shelf, exchange, base=base)
        if record is not None:
            return self._files.append([record])[0]
        visit.answer.body.seek(start)
        return self.keep(visit)

    def keep_duplicate(self, visit: Visit, *, body: RecordRef) -> RecordRef:
        """Append the request and a revisit of the record at ``body``: a 304, or exactly the bytes that lie there."""
        exchange = Exchange(visit, worker=self._files.worker, answered_by="revisit")
        original = read_fields_of(self._shelf, body)
        return self._files.append_beside(exchange.request(), exchange.revisit(original))

    def holds(self, ref: RecordRef) -> bool:
        """Whether a record lies here; it may be in the folder of another worker that shares the catalogue."""
        return self.has_file(ref.file)

    @property
    def shared(self) -> bool:
        """Whether other workers see what is sealed."""
        return self._shelf.shared

    def close_file(self, *, began_before: datetime | None = None) -> bool:
        """Append no more to the open file, if it is that old, so that it can be sealed; whether there was one."""
        return bool(self._files.close(began_before=began_before))

    @property
    def rolled(self) -> int:
        """A number that grows when there may be something to seal."""
        return self._files.rolled

    def unsealed(self) -> list[tuple[str, int]]:
        """The files of this worker, with their sizes, that are finished and have no index yet."""
        names = {name for name, _ in self._shelf.files()}
        return [(file, size) for file, size in self._files.finished() if index_name(file) not in names]

    def seal(self, file: str, size: int, *, spool: Path | None = None) -> None:
        """Index a finished file and bring it to where it stays."""
        seal_file(self._shelf, file, size, spool=spool)

    def plan_compaction(self, dropped: Iterable[RecordRef], *, at_once: bool, only_of: str = "") -> Plan:
        """What is to be done that these bodies may go; ``at_once`` if nobody writes meanwhile."""
        return plan_compaction(self._shelf, dropped, at_once=at_once, only_of=only_of)

    def compact(
        self,
        plan: Plan,
        *,
        worker: str,
        now: datetime,
        spool: Path | None = None,
        on_file: Callable[[str], None] = lambda _: None,
    ) -> Compacted:
        """Write the files of a plan anew, while everybody reads on."""
        return compact(self._shelf, plan, worker=worker, now=now, spool=spool, on_file=on_file)

    def fields_of(self, ref: RecordRef) -> RecordFields:
        """What a record says in its named fields."""
        return read_fields_of(self._shelf, ref)

    def has_file(self, file: str) -> bool:
        """Whether a file is here, or what it held has been moved to another."""
        return self._shelf.has(file)

    def is_sealed(self, file: str) -> bool:
        """Whether nothing is appended to a file any more."""
        return self.has_file(index_name(file))

    def place_of(self, ref: RecordRef) -> RecordRef:
        """Where a record lies now."""
        return self._shelf.find(ref) or ref

    @property
    def compacted_at(self) -> datetime | None:
        """When files were last written anew."""
        self._shelf.look()
        return self._shelf.moved_at

    def walks(self, *, unfold: bool = True) -> Iterator[Walk]:
        """A walk through each file that holds records, whoever wrote it."""
        for file, size in self._shelf.files():
            if file.endswith(SUFFIX):
                yield Walk(self._shelf, file, size, unfold=unfold)

    def sync(self) -> None:
        """All that was kept is on disk for good."""
        self._shelf.sync()

    def open_body(self, ref: RecordRef) -> BinaryIO:
        """The body that a record holds; RecordDamaged, at its end at the latest, if it is not as it was written."""
        return open_body(self._shelf, ref)

    def read_headers(self, ref: RecordRef) -> RecordHeaders:
        """What a record and its HTTP head say."""
        return read_headers(self._shelf, ref)

    def recover(self, known_end: Callable[[str], int]) -> Iterator[Kept | Torn]:
        """What this worker's files hold beyond the known ends, as ``recovery.recover`` tells; before anything is kept."""
        try:
            for item in recover(self._shelf, known_end, owned=self._files.owns):
                if isinstance(item, Torn) and not item.set_aside:
                    self._files.abandon(item.file)
                yield item
        finally:
            self._files.look_again()
