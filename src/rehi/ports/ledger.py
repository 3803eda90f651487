"""The ledger: which bytes are kept, where they lie, when they were there, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import Protocol

from rehi.model.capture import Capture, CaptureFilter
from rehi.model.inventory import KnownBody, KnownFile, Replacement
from rehi.model.problem import Problem, ProblemKey
from rehi.model.version import Digest, Version


class Ledger(Protocol):
    """What the archive keeps: bodies, the files they lie in, versions, captures and problems."""

    def find_bodies(self, digests: Iterable[Digest]) -> Mapping[Digest, KnownBody]:
        """Return where the bytes of each known digest lie, or lay until they were pruned."""

    def bodies(self, *, pruned_before: datetime | None = None) -> Iterator[KnownBody]:
        """Return all bodies that must be there when this is called, in the order in which they came, read as asked for.

        With a moment, return those instead that were pruned before it.
        """

    def sample_bodies(self, count: int) -> Sequence[KnownBody]:
        """Return so many of the bodies that must be there, chosen by lot."""

    def known_files(self) -> Sequence[KnownFile]:
        """Return the files in which records lie, derived ones too, in the order of their names."""

    def record_starts(self, file: str) -> Sequence[int]:
        """Return the offsets of the records in a file that are known: those of bodies, and of visits."""

    def shorten_files(self, ends: Mapping[str, int]) -> None:
        """Note that files end sooner than they did, 0 for those that are gone; what lay behind is lost."""

    def replace_bodies(self, places: Mapping[Digest, Replacement], *, worker: str) -> None:
        """Note that bytes lie elsewhere from now on, in files of this worker, but for those that are pruned or moved already."""

    def versions(self, url: str) -> Sequence[Version]:
        """Return all versions of a URL in the order of time, whatever their numbers; NotFound if it has none."""

    def captures(
        self, where: CaptureFilter, *, after: tuple[str, datetime] | None = None, limit: int | None = None
    ) -> Iterator[Capture]:
        """Return visits whose answers are kept, in the order of URLs (bytewise) and then of time, read as asked for.

        Those that come after a URL and a moment, if they are given. An unchanged visit has the version that was valid
        then. URLs that share their first 600 characters may come in another order among themselves.
        """

    def on_record(self, visits: Iterable[tuple[str, datetime]]) -> Set[tuple[str, datetime]]:
        """Return which of these visits, by URL and moment, are on record."""

    def note(self, problems: Sequence[Problem], *, solved: Iterable[ProblemKey] = ()) -> None:
        """Put problems on the list, after those were taken off it that hold no longer.

        One that is there already is counted again.
        """
