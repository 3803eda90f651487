"""What is kept: the ledger, captures, the stock and the inventory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import Protocol

from rehi.model.capture import Capture, CaptureFilter
from rehi.model.holdings import Holdings
from rehi.model.inventory import KnownBody, KnownFile
from rehi.model.problem import Problem, Stage
from rehi.model.retention import Buried, Dropping, History, Rule, Shared
from rehi.model.version import Digest, RecordRef, Version


class Ledger(Protocol):
    """Which bytes are kept, and where."""

    def find_body(self, digests: Iterable[Digest], *, dropped: bool = False) -> Mapping[Digest, RecordRef]:
        """Where each known digest's bytes lie; where those that were dropped lay, too, if they are wanted."""

    def versions(self, url: str) -> Sequence[Version]:
        """All versions of a URL in the order of time, whatever their numbers; NotFound if it has none."""

    def on_record(self, visits: Iterable[tuple[str, datetime]]) -> Set[tuple[str, datetime]]:
        """Those of the visits, by URL and moment, that are on record."""

    def known_end(self, file: str) -> int:
        """The end of the last record of a file that the catalogue knows; 0 for a new file."""

    def note(self, problems: Sequence[Problem]) -> None:
        """Put problems on the list; one that is there already is counted again."""

    def strike_out(self, stage: Stage, subjects: Iterable[str], *, code: str) -> None:
        """Take problems of one code off the list: what they say holds no longer."""

    def digest_of(self, url: str) -> Digest | None:
        """The digest of the URL's newest version."""


class Captures(Protocol):
    """What was there and when, as web archives list it."""

    def captures(
        self, where: CaptureFilter, *, after: tuple[str, datetime] | None = None, limit: int | None = None
    ) -> Iterator[Capture]:
        """Visits whose answers are kept, in the order of their URLs (bytewise) and then of time, read as they are asked for.

        Those that come after a URL and a moment, if they are given. An unchanged visit has the version that was valid
        then. URLs that share their first 600 characters may come in another order among themselves.
        """


class Stock(Protocol):
    """Which bytes are worth keeping, which were dropped, and what the archive holds in all."""

    def set_keep(self, source_id: int, keep: str) -> None:
        """Say which versions of a source's resources are kept; NotFound if there is none, SettingsError if it is no rule."""

    def histories(self, rules: Mapping[int, Rule], *, after: int, limit: int) -> Sequence[History]:
        """Resources of these sources of whose versions some may be dropped, in the order of their numbers."""

    def histories_of(self, resource_ids: Iterable[int]) -> Sequence[History]:
        """Those of these resources."""

    def sharing(self, blob_ids: Iterable[int], *, sources: Iterable[int]) -> Sequence[Shared]:
        """How many versions have these bytes, and the first resource of these sources; nothing of what was dropped."""

    def sharers(self, blob_ids: Iterable[int], *, after: int = 0, limit: int) -> Sequence[tuple[int, int]]:
        """Bodies with the resources of which a version has them, in the order of the resources' numbers."""

    def describe_bodies(self, rules: Mapping[int, str]) -> Sequence[Buried]:
        """What is to be remembered of bytes by id that are let go by a rule each, in the order of their ids."""

    def bury(self, buried: Sequence[Buried], *, at: datetime, record: RecordRef, worker: str) -> Mapping[Digest, int]:
        """Mark bytes as dropped, as the record says; the sizes of those that were kept until now.

        Those that a version has got since then stay. The record is known from now on.
        """

    def droppings(self, digests: Iterable[Digest]) -> Mapping[Digest, Dropping]:
        """When bytes were dropped, of those that were."""

    def holdings(self, *, limit: int) -> Holdings:
        """What the archive holds, in all and by type and host; no more than ``limit`` of each, the largest first."""


class Inventory(Protocol):
    """What must be in the archive's files."""

    def known_files(self) -> Sequence[KnownFile]:
        """The files in which records lie, derived ones too, in the order of their names."""

    def last_body(self) -> int:
        """The number of the body that came last; 0 if there is none."""

    def bodies(self, *, until: int) -> Iterator[KnownBody]:
        """All bytes that must be there, in the order in which they came, up to that number."""

    def dropped_bodies(self, *, before: datetime) -> Iterator[KnownBody]:
        """Those that were dropped before a moment, with where they lay."""

    def sample_bodies(self, count: int) -> Sequence[KnownBody]:
        """Some of those that must be there, chosen by lot."""
