"""The graph, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyoxigraph import NamedNode, Triple

    from rehi.errors import RehiError
    from rehi.model.work import ResourceDescription
    from rehi.ports.catalogue import Catalogue


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


class DescribedPage(Protocol):
    """A page while the graph is told of it: what a facet needs to state something."""

    @property
    def iri(self) -> NamedNode:
        """The page's own IRI."""

    @property
    def description(self) -> ResourceDescription:
        """All that the catalogue knows of it."""

    def mint(self, *segments: str) -> NamedNode:
        """Return an identifier of our own: the public base, followed by these segments of a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphContext:
    """What a topic is given to describe its subjects."""

    catalogue: Catalogue
    base: str  # the public base under which identifiers are minted
    note: Callable[[str, RehiError], None]  # puts an error on the problems list, with what it is about


class Topic(Protocol):
    """What the graph says of one kind of subjects. Work that waits in the outbox under its name is claimed for it.

    Who changes a subject puts it there, by ``Outbox.put`` or in the transaction that changes it. A topic with subjects of
    its own also has ``subjects(context, *, after, limit)``, which returns the numbers of those after one, in order and
    greater than 0: what a graph that is written again is told of, and what is compared with it. If it follows another topic, too, then
    ``concerned(changed, context)`` returns those of its own that a change of the other's subjects concerns; without it, all.
    """

    follows: (
        str  # the topic of whose changes this one is told, too; if it has no subjects of its own, that one's are its
    )

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Return the changes that bring the graph up to date, by subject; what is gone is replaced by nothing."""


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
    incomplete: str = ""  # why the graph does not say all that it should; empty if it does


@dataclass(frozen=True, slots=True)
class PublishedFiles:
    """A folder with the files of a graph, and a number that is greater for what was published later."""

    folder: Path
    number: int


class Graph(Protocol):
    """A store of named graphs that answers SPARQL."""

    shared: bool  # whether every worker reaches the same one; an embedded graph lies in one worker's folder

    def write(self, changes: Sequence[GraphChange]) -> None:
        """Write all changes or none, on disk for good; GraphDamaged if what is there can't be read."""

    def read(self, graph: NamedNode) -> Set[Triple]:
        """Return all that a named graph says; for who writes, also what is not published yet. GraphDamaged if it can't be."""

    def find_damage(self) -> str:
        """Return why the graph must be written again, as far as that is known without a look at all of it; empty if it need not."""

    def renew(self) -> str:
        """Set all that is there aside, damaged or not, and begin an empty graph; return the old one's name, if it was there."""

    def publish(self) -> None:
        """Let queries see what was written."""

    def query(self, text: str, *, media_type: str, limits: QueryLimits) -> QueryAnswer:
        """Answer over the union of all graphs, in that media type; QueryError, QueryTimeout, QueryTooLarge."""

    def hold_published(self) -> AbstractContextManager[PublishedFiles | None]:
        """Hold the files of what was last published, which stay as they are meanwhile; None if there are none here."""

    def restore(self, folder: Path) -> None:
        """Move the files in a folder here, as they were held once; those before are set aside. Nobody may be writing."""

    def verify(self) -> Iterator[str]:
        """Read every table of what was published, and yield what is wrong with them."""

    def size(self) -> int:
        """Return the number of statements."""

    def check(self) -> str:
        """Return one line on the engine: its name and version. EngineError if it does not answer."""

    def close(self) -> None:
        """Close the engine: its processes and files."""
