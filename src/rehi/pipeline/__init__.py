"""The pipeline: the rooms connected, on one screen. Here alone it is decided on retry, skip and quarantine.

    discover ─▶ lease ─▶ visit ─▶ keep ─▶ read ─▶ describe
    sources     frontier  fetch   archive  extract, enrich, link   graph

Nothing is acknowledged before it is on disk: first the archive's records, then one catalogue transaction per batch,
then the graph from the outbox. Each step may be repeated, so a kill at any point costs only work, and a step whose engine
is away is done again when that is back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter, sleep

from rehi.errors import ArchiveAway, ArchiveRefuses, CatalogueAway, GraphAway, ReadersAway
from rehi.frontier import HouseLeaseRules
from rehi.model.problem import Problem, ProblemKey, Stage
from rehi.model.update import UpdateKind
from rehi.pipeline.clock import CLOCK_JUMPED, ClockWatch
from rehi.pipeline.descriptions import Descriptions
from rehi.pipeline.discoveries import Discoveries
from rehi.pipeline.discovery import Discovery
from rehi.pipeline.graph_writer import GraphWriter, taken_key
from rehi.pipeline.links import Links
from rehi.pipeline.outages import Outages
from rehi.pipeline.readings import Readings
from rehi.pipeline.reports import Rounds
from rehi.pipeline.rooms import Progress, Rooms, Step
from rehi.pipeline.sealing import Sealing
from rehi.pipeline.visits import Visits

CATCH_UP_SECONDS = 0.01  # between two turns while processes read
_AWAY = [kind.code for kind in (CatalogueAway, ArchiveAway, ArchiveRefuses, GraphAway, ReadersAway)]

_log = logging.getLogger(__name__)

__all__ = ["Discovery", "Harvest", "Progress", "Rooms"]


class Harvest:
    """One worker's harvest: takes the steps through all rooms again and again."""

    def __init__(self, rooms: Rooms) -> None:
        self.progress = Progress()
        self._rooms = rooms
        self._rounds = Rounds(rooms, self.progress, on_change=lambda: self._visits.stir())
        self._discoveries = Discoveries(rooms, self.progress)
        self._visits = Visits(rooms, self.progress, find_update=self._rounds.find_update)
        self._readings = Readings(rooms, self.progress, wake=self._visits.wake)
        self._links = Links(rooms, self.progress)
        self._graph = GraphWriter(rooms)
        self._descriptions = Descriptions(rooms, self.progress, self._graph)
        self._sealing = Sealing(rooms)
        probes: dict[str, Callable[[], object]] = {
            CatalogueAway.code: self._give_back_unknown,
            ArchiveAway.code: rooms.archive.reach,
            ArchiveRefuses.code: rooms.archive.reach,
            GraphAway.code: self._graph.reach,
        }
        rules = HouseLeaseRules(least_rest=rooms.settings.fetch.delay)
        self._forget_leases = partial(rooms.catalogue.forget_leases, worker=rooms.worker, rules=rules)
        self._outages = Outages(rooms.clock, self.progress, probes)
        self._clock_watch = ClockWatch(rooms, self._outages.unlisted.append)
        room_steps = (self._discoveries, self._visits, self._readings, self._links, self._descriptions)
        # Each with those that it may have brought work for, when it has changed the catalogue.
        self._steps: tuple[tuple[Callable[[], bool], tuple[Step, ...]], ...] = (
            (self._clock_watch.look, ()),
            (self.tell_outages, room_steps),
            (self._discoveries.discover, room_steps),
            (self._visits.lease, ()),
            (self._visits.visit, ()),
            (self._visits.keep, (self._discoveries, self._visits, self._readings, self._descriptions)),
            (self._readings.read, (self._readings, self._links, self._descriptions)),
            (self._links.follow, (self._visits, self._links, self._descriptions)),
            (self._sealing.seal, ()),
            *([(self._descriptions.describe, ())] if self._writes_graph else []),
        )

    @property
    def _writes_graph(self) -> bool:
        """Whether this worker tells the graph; not if another has it, or has taken it meanwhile."""
        return self._rooms.settings.work.graph and not self._rooms.graph_owner and not self._graph.is_taken

    def run(
        self,
        *,
        until_idle: bool,
        stopped: Callable[[], bool],
        on_turn: Callable[[Progress], None] = lambda _: None,
        kind: UpdateKind | None = None,
    ) -> None:
        """Take all steps again and again, until told to stop or nothing is due now; ``kind`` names its update.

        One that would go on for ever also ends when the clock has jumped: it goes by the time that it began with.
        """
        outages = self._outages
        outages.patience = self._rooms.settings.work.patience if until_idle else None
        outages.persist(self._recover, stopped=stopped)
        kind = kind or (UpdateKind.HARVEST if until_idle else UpdateKind.DAY)
        outages.persist(partial(self._rounds.begin, kind), stopped=stopped)
        finished = False
        try:
            while not stopped() and not (self._clock_watch.jumped and not until_idle):
                self._turn()
                on_turn(self.progress)
                idle = self.settled and self._visits.is_dry
                outages.attempt(partial(self._rounds.turn, idle=idle), name="turn")
                if until_idle and idle:
                    finished = True
                    break
        finally:
            self._leave(finished=finished)

    def catch_up(self) -> None:
        """Read and describe what waits, until nothing is left; nothing is visited, and no source is read."""
        self._recover()
        describe = (self._descriptions.describe,) if self._writes_graph else ()
        steps = (self._readings.read, self._sealing.seal, *describe)
        try:
            while not (self._readings.is_settled and (self._descriptions.is_settled or not self._writes_graph)):
                for step in steps:
                    if step():
                        self._readings.stir()
                        self._descriptions.stir()
                sleep(CATCH_UP_SECONDS)
        finally:
            self._forget_leases(now=self._rooms.clock())
            self._sealing.leave()
            if self._writes_graph:
                self._graph.settle(unpublished=True)
            self._rounds.leave()

    def take_note(self, problems: Sequence[Problem]) -> None:
        """Put on the problems list what was away before this began, as soon as that can be done."""
        self._outages.unlisted.extend(problems)

    def _turn(self) -> None:
        """Take every step once, but for those whose engine is away."""
        for step, others in self._steps:
            began = perf_counter()
            if self._outages.attempt(step):
                for other in others:
                    other.stir()
            self.progress.seconds[step.__name__] += perf_counter() - began

    def close(self) -> None:
        """Give back what was opened, whether the wheel was turned or not."""
        self._discoveries.leave()
        self._sealing.close()
        self._visits.close()

    @property
    def clock_jumped(self) -> bool:
        """Whether the clock was set since the start, so that another harvest has to go on."""
        return self._clock_watch.jumped

    @property
    def settled(self) -> bool:
        """Whether all that has come so far is discovered, kept, read, described and published."""
        described = self._descriptions.is_settled or not self._writes_graph
        rooms = (self._discoveries, self._visits, self._readings, self._links)
        return described and not self._outages.current and all(room.is_settled for room in rooms)

    def _recover(self) -> None:
        """Enter what the archive holds beyond the catalogue, and take up what was under way when this worker was killed.

        First its work is given back, which waits for what the killed process had sent off: by an older list of files, what that has
        brought would be taken for a tail, and set aside. Its hosts are given back last: before the visits are on record that only
        the archive knows, another worker would make them once more.
        """
        rooms = self._rooms
        old = [ProblemKey(Stage.SERVICE, code, code) for code in _AWAY]
        old += [ProblemKey(Stage.SERVICE, "clock", CLOCK_JUMPED), taken_key(rooms.worker)]
        rooms.catalogue.note([], solved=old)
        self._clock_watch.begin()
        self._forget_leases(now=rooms.clock(), keep_hosts=True)
        ends = {file.name: file.known_end for file in rooms.catalogue.known_files()}
        rooms.discovery.take_up(rooms.catalogue.sources())
        self._visits.recover(ends)
        rooms.derived.forget_tail(lambda file: ends.get(file, 0))
        self._forget_leases(now=rooms.clock())
        if self._writes_graph:
            self._graph.begin()
        elif rooms.graph_owner and rooms.settings.work.graph:
            _log.warning(
                "the graph is embedded in the worker %s: what it must be told is left to it", rooms.graph_owner
            )

    def tell_outages(self) -> bool:
        """Put on the problems list what was away, and return whether something has come back."""
        outages = self._outages
        if outages.unlisted:
            self._rooms.catalogue.note(outages.unlisted)
        over, outages.over = outages.over, False
        outages.unlisted.clear()
        return over

    def _give_back_unknown(self) -> None:
        """Give back what a catalogue has handed out and could not say any more: a write, which shows that it is back."""
        in_hand = (self._discoveries, self._readings, self._links, self._descriptions)
        claims = {row for room in in_hand for row in room.claim_ids}
        self._forget_leases(now=self._rooms.clock(), tokens=self._visits.tokens, claims=claims)

    def _leave(self, *, finished: bool) -> None:
        """Give everything back. Without a catalogue that is left to the next start, and nobody waits for it."""
        self._discoveries.leave()
        if CatalogueAway.code in self._outages.current:
            _log.warning("stopped while the catalogue is away: what was not recorded is, by the next harvest")
            return
        self._visits.leave()
        self._rounds.end(finished=finished)
        self._forget_leases(now=self._rooms.clock())
        self._sealing.leave()
        if self._writes_graph:
            with suppress(GraphAway):
                self._graph.settle(unpublished=True)
        self._rounds.leave()
