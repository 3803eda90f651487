"""A resource as visits change it: its state, its past, and what a batch of visits makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from rehi.model.problem import Problem
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Outcome, Visited

Redirects = Mapping[int, int | None]  # from a resource to the one it redirects to, by id; None for nowhere
Depths = Mapping[int, Mapping[int, int]]  # by resource: how far it lies from where each of its sources began, by source


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceState:
    """What is known of a resource, as far as a visit is judged by it or changes it."""

    id: int
    url: str
    outcome: Outcome | None = None  # of the newest visit; None before the first
    status: int = 0
    failures: int = 0  # in a row
    failing_since: datetime | None = None
    gone_at: datetime | None = None
    remarked: bool = False  # the newest visit went well, but there was a remark
    versions: int = 0  # how many there are, which is the number of the one that arrived last
    digest: Digest | None = None  # of the version that is valid now
    changed_at: datetime | None = None  # since when it is valid
    visited_at: datetime | None = None
    media_type: str = ""  # as declared with the version that is valid now
    etag: str = ""
    last_modified: str = ""
    history: bytes = b""  # of its changes, as the frontier writes it
    hops: int = 0  # redirects that led here


@dataclass(frozen=True, slots=True, kw_only=True)
class PastVersion:
    """A version that is on record: what a resource was from a moment on."""

    at: datetime
    digest: Digest
    size: int
    media_type: str
    status: int
    record: RecordRef
    body: RecordRef


@dataclass(frozen=True, slots=True)
class PastVisit:
    """A visit on record that found the version before it still valid."""

    at: datetime
    record: RecordRef | None


@dataclass(frozen=True, slots=True)
class ResourcePast:
    """What is on record of a resource, for visits that lie before its newest one; both in the order of time."""

    versions: tuple[PastVersion, ...] = ()
    confirmed: tuple[PastVisit, ...] = ()  # at least the first one after each visit that is to be recorded


NO_PAST = ResourcePast()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A version before it has an id."""

    resource_id: int
    number: int
    taken_at: datetime
    digest: Digest
    size: int
    media_type: str
    status: int
    record: RecordRef
    body: RecordRef
    read: bool = True  # whether it is to be read: not if a later one is there already
    held: bool = True  # whether the bytes came with it; if not, they lie where they are known to lie


@dataclass(frozen=True, slots=True)
class Correction:
    """A visit on record that is seen in another light now."""

    at: datetime
    before: Outcome
    after: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChange:
    """What visits to one resource come to: all that is to be stored of them."""

    state: ResourceState
    visits: tuple[tuple[Visited, Outcome], ...]  # with what each came to, in the order of time
    versions: tuple[NewVersion, ...] = ()
    corrections: tuple[Correction, ...] = ()
    due_at: datetime | None = None  # None leaves the schedule as it is
    redirect_to: str | None = None  # empty for nowhere; None leaves the redirect as it is
    target_due: bool = True  # whether a target that nobody knew is due at once
    target_hops: int = 0  # redirects that led to it
    problems: tuple[Problem, ...] = ()
    problems_end: bool = False  # what was noted of earlier visits holds no longer
    tells_graph: bool = False  # there is a new version, or one with versions is gone or back: the graph must be told
    kept_again: RecordRef | None = None  # where the bytes of the valid version lie, though they were known already
    counts: tuple[str, ...] = ()  # as what the visits count for an update: of ``update.COUNTS``, each once for a visit


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectChange:
    """What redirects that visits have seen come to; resources by id."""

    changed: Redirects  # those that are not as they were
    looped: frozenset[int] = frozenset()  # on a circle, by which they have failed
    freed: frozenset[int] = frozenset()  # on a circle before, and no longer
    ends: frozenset[int] = frozenset()  # where chains that changed ended or end now: the graph must be told


@dataclass(frozen=True, slots=True)
class LoopMember:
    """A resource that lies on a circle of redirects, or did until now."""

    id: int
    url: str
    problem: str  # the code of what is noted of its visits; empty if nothing is


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopMarks:
    """What resources become that are on circles of redirects, or are so no longer."""

    outcomes: Mapping[int, Outcome]  # by id
    problems: tuple[Problem, ...] = ()
    solved: tuple[str, ...] = ()  # URLs whose problem holds no longer
