"""Damaged bodies: kept bytes that can't be read any more, and those of them that came again and were kept once more."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rehi.errors import ArchiveError, RecordDamaged, RecordLost, RecordMissing
from rehi.model.inventory import KnownBody, Replacement
from rehi.model.problem import Problem, ProblemKey, Stage
from rehi.model.retention import LOST
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Visited
from rehi.ports import Ledger

_CODES = (RecordDamaged.code, RecordMissing.code, RecordLost.code)
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class DamagedBodies:
    """What was met of our own archive while visits were kept. No site and no source is to blame for it."""

    _faults: dict[RecordRef, ArchiveError] = field(default_factory=dict)
    _unlisted: dict[RecordRef, ArchiveError] = field(default_factory=dict)
    _replaced: dict[Digest, Replacement] = field(default_factory=dict)
    _back: set[RecordRef] = field(default_factory=set)  # what was lost for good, as it seemed

    def __contains__(self, place: object) -> bool:
        return place in self._faults

    def meet(self, place: RecordRef, error: ArchiveError) -> None:
        """Note that bytes can't be read; once for each place."""
        if place not in self._faults:
            _log.warning("what was kept can't be read: %s", error)
            self._faults[place] = self._unlisted[place] = error

    def replace(self, digest: Digest, *, lay: RecordRef, lies: RecordRef) -> None:
        """Note that bytes that can't be read were kept once more."""
        self._replaced[digest] = Replacement(lay, lies)
        self._unlisted.pop(lay, None)

    def welcome(self, visited: Iterable[Visited], known: Mapping[Digest, KnownBody]) -> None:
        """Note which bytes have come again that were given up for lost."""
        for seen in visited:
            body = known.get(seen.digest) if seen.digest is not None else None
            if body is not None and body.pruned is not None and body.pruned.rule == LOST and seen.record == seen.body:
                self._back.add(body.place)

    def record(self, ledger: Ledger, *, worker: str, now: datetime) -> None:
        """Tell the catalogue, before it is told of the visits; if that breaks off, it is told again."""
        if self._replaced:
            ledger.replace_bodies(self._replaced, worker=worker)
        solved = [*self._back, *(place.lay for place in self._replaced.values())]
        if solved or self._unlisted:
            ledger.note(self._problems(now), solved=_keys(solved))
        self._replaced, self._unlisted, self._back = {}, {}, set()

    def _problems(self, now: datetime) -> Sequence[Problem]:
        return [
            Problem.of(_class_of(error)(str(error)), stage=Stage.ARCHIVE, subject=_subject(place), at=now)
            for place, error in self._unlisted.items()
        ]


def _keys(places: Iterable[RecordRef]) -> Iterator[ProblemKey]:
    for place in places:
        for code in _CODES:
            yield ProblemKey(Stage.ARCHIVE, _subject(place), code)


def _class_of(error: ArchiveError) -> type[ArchiveError]:
    """Return as what it is listed, whatever kind of damage it is."""
    return RecordMissing if isinstance(error, RecordMissing) else RecordDamaged


def _subject(place: RecordRef) -> str:
    return f"{place.file}:{place.offset}"
