"""The topic of stations: subjects of its own, which stand in a register that the package brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from rehi.model.entity import EntityKey
from rehi.model.listing import DocumentFilter, Page
from rehi.ports import GraphChange, GraphContext, ReplaceSubject

from .facet import VOCABULARY

_INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")


@dataclass(frozen=True, slots=True)
class RegisteredStation:
    """A station, whether any report names it or not."""

    name: str
    height: int  # metres
    closed: bool = False  # no report names it any more


REGISTER = {
    3: RegisteredStation("Aberffin", 12),
    70: RegisteredStation("Llanwyntog", 310),
    512: RegisteredStation("Pen-y-niwl", 904, closed=True),
}


class StationTopic:
    """Says of each station how high it lies and how many reports name it, for which it is told of documents, too."""

    follows = "resource"

    def subjects(self, context: GraphContext, *, after: int, limit: int) -> Sequence[int]:
        """All stations of the register, by their numbers."""
        return [number for number in sorted(REGISTER) if number > after][:limit]

    def concerned(self, changed: Sequence[int], context: GraphContext) -> Sequence[int]:
        """All that may be in a report: which ones a document named until now is not known any more."""
        return [number for number, station in REGISTER.items() if not station.closed]

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Height and reports; of a number that is not in the register, nothing."""
        return {number: [_change(number, context)] for number in subjects}


def _change(number: int, context: GraphContext) -> GraphChange:
    graph = NamedNode(f"{context.base}/graph/stations")
    subject = NamedNode(f"{context.base}/weather-station/{number}")
    station = REGISTER.get(number)
    if station is None:
        return ReplaceSubject(graph, subject, ())
    named = DocumentFilter(entity=EntityKey("station", station.name.lower()))
    _, reports = context.catalogue.documents(named, Page(limit=1))
    facts: dict[str, Any] = {"height": station.height, "reports": reports}
    said = [
        Triple(subject, NamedNode(VOCABULARY + what), Literal(str(n), datatype=_INTEGER)) for what, n in facts.items()
    ]
    return ReplaceSubject(
        graph, subject, (Triple(subject, NamedNode(VOCABULARY + "name"), Literal(station.name)), *said)
    )


TOPIC = StationTopic()
