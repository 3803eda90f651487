"""The graph's writer: each batch bears a mark, and a graph that was lost or damaged is written again from the catalogue."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from rehi.errors import GraphAway, GraphDamaged, GraphLost, GraphTaken, RehiError
from rehi.graph import (
    GraphTopic,
    compare_marks,
    describe_mark,
    describe_vocabulary,
    load_topics,
    mark_graph,
    put_all,
    read_mark,
    rewritten_kinds,
)
from rehi.model.generation import GraphCondition, GraphMark
from rehi.model.problem import Problem, ProblemKey, Stage
from rehi.pipeline.rooms import Rooms
from rehi.ports import GraphChange, GraphContext

GRAPH = "graph"  # the subject of its problem
GONE = "the graph is not there"
_WHY = {
    GraphCondition.MISSING: GONE,
    GraphCondition.OLDER: "the graph is older than the catalogue",
    GraphCondition.OTHER: "the graph is not the one that the catalogue has written",
}
_log = logging.getLogger(__name__)


class GraphWriter:
    """The graph of a worker that alone writes it, or with others on a server.

    An embedded one may be taken over by another worker at any time. The catalogue then records nothing of what is written
    here any more, and this one leaves the graph alone.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self.owner = "" if rooms.graph.shared else rooms.worker  # that it must have for what is written here to count
        self.is_taken = False  # by another worker
        self._mark = GraphMark(generation="", batch=0)  # of what was written last
        self._rewriting = False

    def begin(self) -> None:
        """Compare the graph's mark with the catalogue's; a graph that is not the known one is written again."""
        graph, base = self._rooms.graph, self._rooms.settings.base
        place = mark_graph(base)
        record = self._rooms.catalogue.graph_record()
        self._rewriting = bool(record.rewriting)
        try:
            triples = graph.read(place)
            size = graph.size() if record.mark is None else 0
        except GraphDamaged as error:
            self._replace(error)
            return
        mark = read_mark(triples)
        condition = compare_marks(record, mark, size=size, shared=graph.shared)
        if condition is GraphCondition.OTHER:
            self._renew(_WHY[condition])
        elif condition is not GraphCondition.WHOLE:
            self._rewrite(_WHY[condition])
        else:
            is_new = record.mark is None or mark is None  # the first start with this folder, or a kill during that
            if is_new and not size and (others := [one for one in load_topics().values() if not one.is_built_in]):
                self._put_all(others)  # what was there before any change, as a register that a topic brings
            self._mark = mark or GraphMark(generation=secrets.token_hex(8), batch=0)
            graph.write([describe_vocabulary(base), *([describe_mark(base, self._mark)] if is_new else [])])
            graph.publish()
            if is_new and not self._rooms.catalogue.begin_graph(self._mark, owner=self.owner):
                self.yield_graph()

    def write(self, changes: Sequence[GraphChange]) -> GraphMark:
        """Write a batch, and return the mark that the catalogue is to record with it."""
        try:
            self._write(changes)
        except GraphDamaged as error:
            self._replace(error)
            self._write(changes)  # all of it: each change replaces what was there
        return self._mark

    def reach(self) -> None:
        """Raise GraphAway as long as the graph can't be opened or asked; what is damaged is left to the next write."""
        with suppress(GraphDamaged):
            self._rooms.graph.read(mark_graph(self._rooms.settings.base))

    def look(self) -> bool:
        """Whether the graph is this worker's still, or everybody's; if not, that is said. A damaged one is begun anew."""
        if self.owner and self._rooms.catalogue.graph_record().owner not in ("", self.owner):
            self.yield_graph()
        elif why := self._rooms.graph.find_damage():
            self._replace(GraphDamaged(why))
        return not self.is_taken

    def yield_graph(self) -> None:
        """Go on after the catalogue knows another graph: with that one if all share it, else without any. That is said once."""
        catalogue = self._rooms.catalogue
        record = catalogue.graph_record()
        if not self.owner:
            self._mark, self._rewriting = record.mark or self._mark, bool(record.rewriting)
            return
        if self.is_taken:
            return
        error = GraphTaken(f"the worker {record.owner} has taken the graph over: what it must be told is left to it")
        subject, at = taken_key(self._rooms.worker).subject, self._rooms.clock()
        catalogue.note([Problem.of(error, stage=Stage.GRAPH, subject=subject, at=at)])
        _log.warning("%s", error)
        self.is_taken, self._rewriting = True, False

    def settle(self, *, unpublished: bool) -> None:
        """Let queries see what was written, and say so when it was the last of a graph that had to be written again."""
        catalogue = self._rooms.catalogue
        rewritten = self._rewriting and not catalogue.graph_record(*rewritten_kinds()).left
        try:
            if unpublished or rewritten:
                self._rooms.graph.publish()
        except GraphDamaged as error:
            self._replace(error)
            return
        if not rewritten:
            return
        if not catalogue.end_rewrite(self._mark):
            self.yield_graph()
            return
        catalogue.note([], solved=[ProblemKey(Stage.GRAPH, GRAPH, GraphLost.code)])
        self._rewriting = False
        _log.warning("the graph is whole again")

    def _write(self, changes: Sequence[GraphChange]) -> None:
        mark = replace(self._mark, batch=self._mark.batch + 1)
        self._rooms.graph.write([*changes, describe_mark(self._rooms.settings.base, mark)])
        self._mark = mark

    def _replace(self, damage: GraphDamaged) -> None:
        """Renew a graph that can't be read. What is wrong names files of this machine, and stays in the log."""
        _log.warning("%s", damage)
        self._renew("the graph is damaged")

    def _renew(self, why: str) -> None:
        """Set the graph aside, and have all of it written again to a new one."""
        try:
            aside = self._rooms.graph.renew()
        except OSError as error:
            raise GraphAway(f"{why}; and it can't be set aside: {error.strerror or error}") from error
        self._rewrite(f"{why}; it was set aside as {aside}" if aside else GONE)

    def _rewrite(self, why: str) -> None:
        _log.warning("%s: all of it is written again from the catalogue", why)
        catalogue, at = self._rooms.catalogue, self._rooms.clock()
        # All work is there before it is said that the graph is written again: what was put there by then belongs to it.
        self._put_all(load_topics().values())
        # Noted before the graph bears the new mark: if it comes to a kill between the two, it is begun once more.
        self._mark = GraphMark(generation=secrets.token_hex(8), batch=0)
        if not catalogue.begin_graph(self._mark, rewrite=why, owner=self.owner):
            self.yield_graph()
            return
        self._rewriting = True
        catalogue.note([Problem.of(GraphLost(why), stage=Stage.GRAPH, subject=GRAPH, at=at)])
        base = self._rooms.settings.base
        self._rooms.graph.write([describe_mark(base, self._mark), describe_vocabulary(base)])
        self._rooms.graph.publish()

    def _put_all(self, topics: Iterable[GraphTopic]) -> None:
        catalogue, base = self._rooms.catalogue, self._rooms.settings.base
        put_all(catalogue.put, GraphContext(catalogue=catalogue, base=base, note=self._note), topics)

    def _note(self, subject: str, error: RehiError) -> None:
        """Put an error of a topic on the problems list."""
        problem = Problem.of(error, stage=Stage.GRAPH, subject=subject, at=self._rooms.clock())
        self._rooms.catalogue.note([problem])


def taken_key(worker: str) -> ProblemKey:
    """Return which problem it is that a worker's graph was taken over by another."""
    return ProblemKey(Stage.GRAPH, f"{GRAPH} of {worker}", GraphTaken.code)
