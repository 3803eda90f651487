"""The ports: what the rooms need of the engines, and no more.

Each has a contract suite in ``rehi.testing.contracts`` that is its specification; every engine runs it.
One engine may stand behind several ports, as the SQL catalogue does behind the first nine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO, ParamSpec, Protocol, TypeVar

from rehi.model.capture import Capture, CaptureFilter
from rehi.model.entity import Entity, EntityKey
from rehi.model.holdings import Holdings
from rehi.model.host import HostFacts, HostOrders, HostRow
from rehi.model.inventory import KnownBody, KnownFile
from rehi.model.listing import DocumentFilter, DocumentRow, EntityRow, NameOnPage, Page, Totals
from rehi.model.problem import Problem, ProblemClass, Stage
from rehi.model.retention import Buried, Dropping, History, Rule, Shared
from rehi.model.source import Source, SourceKind, SourceState
from rehi.model.update import Load, Update, UpdateKind, UpdateState
from rehi.model.version import Digest, RecordRef, Version
from rehi.model.visit import HostLease, Visited
from rehi.model.work import GraphWork, HostLesson, HostRelease, ReadResult, ReadTask

if TYPE_CHECKING:
    from pyoxigraph import NamedNode, Triple

P = ParamSpec("P")
T = TypeVar("T")


class Sources(Protocol):
    """Where resources come from."""

    def add_source(self, *, kind: SourceKind, name: str, location: str, size: int, now: datetime) -> Source:
        """Enter a source; the same location gives the same source again."""

    def take_in(
        self,
        source: Source,
        urls: Sequence[str],
        *,
        position: int,
        counts: Mapping[str, float],
        problems: Sequence[Problem] = (),
        now: datetime,
    ) -> int:
        """Store a batch of found URLs, due now, with the new position and the counts to add; the rows that are new."""

    def mark_source(self, source_id: int, state: SourceState, *, position: int | None = None) -> None:
        """Say how far a source has come."""

    def set_policy(self, source_id: int, *, policy: str, weight: float) -> None:
        """Say when the source's resources are to be visited again, and how much they matter."""

    def source(self, source_id: int) -> Source:
        """One source; NotFound if there is none."""

    def sources(self) -> Sequence[Source]:
        """All sources, the newest first."""


class Frontier(Protocol):
    """What is due, when, and for whom. Hosts are leased, not URLs."""

    def lease(self, *, worker: str, hosts: int, urls: int, ttl: float, now: datetime) -> Sequence[HostLease]:
        """Up to ``hosts`` hosts that are ready, each with up to ``urls`` due tasks; nobody else gets them until ``ttl``."""

    def renew(self, leases: Sequence[HostLease], *, ttl: float, now: datetime) -> Sequence[int]:
        """Keep leases for longer; the ids of the hosts that are somebody else's by now."""

    def record(
        self,
        visited: Sequence[Visited],
        released: Sequence[HostRelease],
        *,
        lessons: Sequence[HostLesson] = (),
        worker: str,
        update_id: int | None = None,
        now: datetime,
    ) -> None:
        """One transaction: visits, versions, blobs, redirects, schedules, problems, read tasks, and leases given back.

        What was learned of hosts is remembered, and the visits count for the update, if one is given.
        """

    def forget_leases(self, *, worker: str, rest: float, now: datetime) -> None:
        """Give back all that a worker held, as when it starts again after it was killed.

        Each host rests for its own delay, and for ``rest`` seconds at least, since it may just have been visited.
        """

    def next_ready(self) -> datetime | None:
        """When the first unleased host is ready; None if nothing is ever due."""

    def orders(self, *, since: datetime) -> Mapping[int, HostOrders]:
        """What was ordered after ``since``, by host id."""

    def load(self, *, now: datetime) -> Load:
        """The visits of this day (UTC), and those that are due until the same hour tomorrow."""


class Hosts(Protocol):
    """How hosts fare, and what is ordered for them."""

    def hosts(self, name: str, page: Page) -> tuple[Sequence[HostRow], int]:
        """Hosts with this in their names, those in trouble first, and how many there are in all."""

    def host(self, name: str, *, now: datetime) -> Sequence[HostFacts]:
        """All that is known of the origins of a host (http and https, other ports); NotFound if there is none."""

    def order(self, host_id: int, orders: HostOrders, *, now: datetime) -> None:
        """Order something for a host; a lease on one that is to be left alone ends now."""


class Updates(Protocol):
    """Rounds of visits."""

    def make_due(self, *, source_id: int | None = None, host: str = "", url: str = "", now: datetime) -> int:
        """Let all that matches be due now, whatever its schedule; how many that are."""

    def begin_update(self, kind: UpdateKind, *, worker: str, due: int, now: datetime) -> Update:
        """Open a row; those that this worker left open are closed as stopped."""

    def open_update(self) -> Update | None:
        """The newest update that runs and is not one worker's own harvest: visits count for it now."""

    def add_to_update(self, update_id: int, *, worker: str, seconds: Mapping[str, float]) -> None:
        """Count time spent by stage."""

    def end_update(self, update_id: int, state: UpdateState, *, now: datetime) -> None:
        """Close a row."""

    def updates(self, page: Page) -> tuple[Sequence[Update], int]:
        """Updates, the newest first, and how many there are in all."""


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


class Outbox(Protocol):
    """Work that a committed change has caused."""

    def claim_reads(self, *, worker: str, limit: int, ttl: float, now: datetime) -> Sequence[ReadTask]:
        """Versions to read, which nobody else gets until ``ttl``."""

    def record_reads(self, results: Sequence[ReadResult], *, now: datetime) -> None:
        """One transaction: documents, identities, problems, graph work, and the tasks that are done."""

    def graph_work(self, *, limit: int) -> GraphWork:
        """What the graph must be told next."""

    def graph_done(self, work: GraphWork, *, statements: Mapping[int, int], seconds: float = 0.0) -> None:
        """The graph knows it; ``statements`` counts by resource id."""

    def describe_all(self) -> int:
        """Put everything on the graph's list again; how much that is."""


class Index(Protocol):
    """What people look at."""

    def totals(self, *, now: datetime) -> Totals:
        """The state of the whole house in numbers."""

    def documents(self, where: DocumentFilter, page: Page) -> tuple[Sequence[DocumentRow], int]:
        """A page of resources in the order of their URLs, and how many match in all."""

    def document(self, resource_id: int) -> DocumentRow:
        """One resource; NotFound if there is none."""

    def resource_id(self, url: str) -> int:
        """The resource of a URL; NotFound if there is none."""

    def names_on(self, resource_id: int) -> Sequence[NameOnPage]:
        """The entities of a document, the most mentioned first."""

    def derived_of(self, resource_id: int) -> RecordRef | None:
        """Where the document's annotations lie; None before it was read."""

    def find_entities(self, name: str, page: Page) -> Sequence[EntityRow]:
        """Entities of which a name or lemma begins so, in any case, the most mentioned first."""

    def entity(self, key: EntityKey) -> Entity:
        """One entity; NotFound if no document mentions it."""

    def problems(self, *, stage: Stage | None, code: str = "", page: Page) -> tuple[Sequence[Problem], int]:
        """Problems of a room, a code or all, the newest first, and how many there are in all."""

    def problem_classes(self, *, stage: Stage | None) -> Sequence[ProblemClass]:
        """How many problems there are of each code in each room, the most frequent first."""


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

    def bury(
        self, buried: Sequence[Buried], *, at: datetime, record: RecordRef, worker: str
    ) -> Mapping[Digest, int]:
        """Mark bytes as dropped, as the record says; the sizes of those that were kept until now.

        Those that a version has got since then stay. The record is known from now on.
        """

    def droppings(self, digests: Iterable[Digest]) -> Mapping[Digest, Dropping]:
        """When bytes were dropped, of those that were."""

    def dropped_files(self) -> Mapping[str, int]:
        """The files in which dropped bytes lay, and how many bytes their records took."""

    def dropped_in(self, file: str) -> Iterator[RecordRef]:
        """Where in a file bytes lay that were dropped, in order."""

    def records_in(self, file: str) -> Iterator[RecordRef]:
        """The records of a file that belong to a visit, a version or bytes, in order; it looks through all visits."""

    def holdings(self, *, limit: int) -> Holdings:
        """What the archive holds, in all and by type and host; no more than ``limit`` of each, the largest first."""


class Inventory(Protocol):
    """What must be in the archive's files."""

    def known_files(self) -> Sequence[KnownFile]:
        """The archive's files, in the order of their names."""

    def last_body(self) -> int:
        """The number of the body that came last; 0 if there is none."""

    def bodies(self, *, until: int) -> Iterator[KnownBody]:
        """All bytes that must be there, in the order in which they came, up to that number."""

    def dropped_bodies(self, *, before: datetime) -> Iterator[KnownBody]:
        """Those that were dropped before a moment, with where they lay."""

    def sample_bodies(self, count: int) -> Sequence[KnownBody]:
        """Some of those that must be there, chosen by lot."""


class Catalogue(Sources, Frontier, Hosts, Updates, Ledger, Outbox, Index, Captures, Inventory, Stock, Protocol):
    """The engine behind the nine: state that outlives any worker."""

    def clock(self) -> datetime:
        """The time by the engine's own clock, which all workers share."""

    def check(self) -> str:
        """One line on the engine: its name and version. EngineError if it does not answer."""

    def close(self) -> None:
        """Give everything back."""


class Shelf(Protocol):
    """A place for append-only files: a folder now, objects in a bucket when they are sealed."""

    def append(self, file: str, chunks: Iterable[bytes]) -> RecordRef:
        """Write at the end of a file, which is made if need be. Not safe on disk before ``sync``."""

    def sync(self) -> None:
        """All that was appended is on disk for good."""

    def open(self, ref: RecordRef) -> BinaryIO:
        """A stream of just that range; RecordMissing if it is not there."""

    def files(self) -> Sequence[tuple[str, int]]:
        """The files' names and sizes, in the order of the names."""

    def has(self, file: str) -> bool:
        """Whether a file is there, as far as can be told without waiting for anybody; cheap enough for every record."""

    def set_aside(self, file: str, offset: int) -> None:
        """Move what follows ``offset`` to a place of its own, and end the file there."""

    def seal(self, file: str) -> None:
        """Nothing is appended to a file any more: it may be brought to where it stays."""

    def put(self, file: str, chunks: Iterable[bytes]) -> None:
        """A file that is whole at once, on disk for good and sealed; one of that name before is replaced."""

    def remove(self, file: str) -> None:
        """Have a file no more; one that is not there is fine."""


@dataclass(frozen=True, slots=True)
class ReplaceGraph:
    """A named graph with all that it says from now on."""

    graph: NamedNode
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class ReplaceSubject:
    """All that a graph says of one subject from now on."""

    graph: NamedNode
    subject: NamedNode
    triples: tuple[Triple, ...]


GraphChange = ReplaceGraph | ReplaceSubject


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLimits:
    """What one query may cost."""

    seconds: float = 30.0
    memory: int = 2 << 30  # bytes
    rows: int | None = None  # no more than these


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """The bytes of an answer as they come, and their media type."""

    media_type: str
    chunks: Iterator[bytes]
    seconds: float  # that the query itself took; the start of a process for it is not in it


class Graph(Protocol):
    """A store of named graphs that answers SPARQL."""

    def write(self, changes: Sequence[GraphChange]) -> None:
        """All changes or none, on disk for good."""

    def publish(self) -> None:
        """Let queries see what was written."""

    def query(self, text: str, *, media_type: str, limits: QueryLimits) -> QueryAnswer:
        """Answer over the union of all graphs, in that media type; QueryError, QueryTimeout, QueryTooLarge."""

    def size(self) -> int:
        """The number of statements."""

    def check(self) -> str:
        """One line on the engine: its name and version. EngineError if it does not answer."""

    def close(self) -> None:
        """Give everything back."""


class Executor(Protocol):
    """Somewhere to run CPU work, where a crash, a hang or greed costs one task only."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start; the future raises ReaderCrashed, ReadTimeout or ReadTooLarge when the guard had to step in."""

    @property
    def workers(self) -> int:
        """How many run at once."""

    def close(self) -> None:
        """Stop at once; what was running is lost."""
