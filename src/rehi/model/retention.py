"""Retention: the rule by which a source's versions are kept, and the bytes that it lets go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from rehi.errors import SettingsError
from rehi.model.version import Digest, RecordRef

ALL = "all"
REFERENCES = "references"
PERIODS = ("day", "week", "month", "year")
MOST_VERSIONS = 1_000_000  # that "last" may count
_LAST = re.compile(r"last ([0-9]{1,7})")
_PER = re.compile(r"one per (day|week|month|year)")
_FORMS = (
    '"all", "last 5", "one per day" (week, month, year), two of them as in "last 5 and one per month", or "references"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is kept of a resource's versions: the union of its parts; everything, if it has none."""

    last: int = 0  # so many of the newest
    periods: tuple[str, ...] = ()  # the last one of each day, week, month or year, in UTC
    references: bool = False  # no bytes at all, once they were read

    @property
    def keeps_all(self) -> bool:
        """Whether nothing is ever pruned."""
        return not (self.last or self.periods or self.references)

    @property
    def spared(self) -> int:
        """How many versions a resource may have of which none is pruned, whatever their times."""
        return 0 if self.references else max(self.last, 1)

    def __str__(self) -> str:
        if self.references:
            return REFERENCES
        parts = [f"last {self.last}"] if self.last else []
        return " and ".join([*parts, *(f"one per {period}" for period in self.periods)]) or ALL


@lru_cache(maxsize=256)
def parse_rule(text: str) -> Rule:
    """Return the rule that a text says; an empty one keeps everything. SettingsError if it can't be understood."""
    words = " ".join(text.lower().split())
    if words in ("", ALL):
        return Rule()
    if words == REFERENCES:
        return Rule(references=True)
    last, periods = 0, set()
    for part in words.split(" and "):
        if (match := _LAST.fullmatch(part)) and 1 <= int(match[1]) <= MOST_VERSIONS:
            last = max(last, int(match[1]))
        elif match := _PER.fullmatch(part):
            periods.add(match[1])
        else:
            raise SettingsError(f"{text[:80]!r} is no rule for what is kept; there are {_FORMS}")
    return Rule(last=last, periods=tuple(period for period in PERIODS if period in periods))


def widest_rule(rules: Iterable[Rule]) -> Rule:
    """Return the rule by which all is kept that any of the rules keeps; without any, everything is."""
    given = list(rules)
    if not given or any(rule.keeps_all for rule in given):
        return Rule()
    if all(rule.references for rule in given):
        return Rule(references=True)
    periods = {period for rule in given for period in rule.periods}
    return Rule(last=max(rule.last for rule in given), periods=tuple(period for period in PERIODS if period in periods))


LOST = "lost"  # the rule by which bytes are gone that could not be brought back


def are_references(rules: Iterable[str]) -> bool:
    """Whether of a resource no bytes are kept by any of its sources' rules, given as texts."""
    return widest_rule(parse_rule(rule) for rule in rules).references


@dataclass(frozen=True, slots=True)
class HeldVersion:
    """A version as far as a rule looks at it."""

    id: int
    blob_id: int
    taken_at: datetime
    current: bool  # its bytes are those that the next visit is compared with
    pending: bool = False  # the task to read it is in the outbox
    read: bool = True  # it was read, or a later one was
    unreadable: bool = False  # its resource's newest version could not be read: a better reader may get more from it

    @property
    def waiting(self) -> bool:
        """Whether its bytes are still needed to read them."""
        return self.pending or (self.current and (not self.read or self.unreadable))


@dataclass(frozen=True, slots=True)
class VersionHistory:
    """The versions of a resource in the order of time."""

    resource_id: int
    source_ids: tuple[int, ...]  # of all sources that have named it
    versions: tuple[HeldVersion, ...]


def versions_to_prune(rule: Rule, versions: Sequence[HeldVersion]) -> list[HeldVersion]:
    """Return the versions of a history, given in the order of time, that a rule lets go.

    The newest is always kept, and so is what waits to be read; "references" lets everything go that was read.
    """
    if rule.keeps_all:
        return []
    if rule.references:
        return [version for version in versions if not version.waiting]
    if len(versions) <= rule.spared:
        return []
    kept = {version.id for version in versions[-max(rule.last, 1) :]}
    for period in rule.periods:
        kept.update({_period_of(version.taken_at, period): version.id for version in versions}.values())
    return [one for one in versions if one.id not in kept and not one.waiting and not one.current]


def _period_of(moment: datetime, period: str) -> tuple[int, ...]:
    day = moment.astimezone(UTC).date()
    if period == "week":
        return day.isocalendar()[:2]
    return (day.year, day.month, day.day)[: {"year": 1, "month": 2, "day": 3}[period]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedBody:
    """Bytes that a rule may let go, and how many versions have them in all."""

    blob_id: int
    size: int
    versions: int
    first_resource: int  # the one with the lowest number, of those that were asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedVersion:
    """What stays known of a version whose bytes were pruned."""

    url: str
    at: datetime
    status: int
    media_type: str  # as declared
    record: RecordRef


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedBody:
    """Bytes that are pruned, by which rule, and what is remembered of them."""

    digest: Digest
    size: int
    rule: str
    versions: int  # that had them
    places: tuple[PrunedVersion, ...]  # the first of them

    def still_prunable(self, *, versions: int, newest_at: datetime, decided_at: datetime) -> bool:
        """Whether no version has got the bytes since it was decided that they go."""
        return versions <= self.versions and newest_at <= decided_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """When bytes were pruned, and by which rule."""

    at: datetime
    rule: str
