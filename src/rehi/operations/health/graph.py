"""The graph's health: its mark, its own tables, and what it says, compared with what the catalogue would have it say.

Beside a harvest a subject is judged only if nothing of it can be on its way. Asked in this order: the mark that the catalogue
knows and what waits in the outbox, the description, the published graph with its mark, and mark and outbox once more. If the
catalogue's mark has not moved, the published one is not behind it, and nothing waited before or after, then the description
was the same all the time and is part of what was published.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from rehi.app import House, lock_folder
from rehi.app.folder_lock import is_locked
from rehi.builtin import table
from rehi.errors import DataFolderBusy, EngineError, QueryError, TopicFailed
from rehi.graph import (
    ALL,
    GraphTopic,
    compare_marks,
    describe_mark,
    load_topics,
    mark_graph,
    read_mark,
    read_statements,
    rewritten_kinds,
)
from rehi.model.generation import GraphCondition, GraphMark
from rehi.operations.health.ailment import Ailment, HousePart
from rehi.operations.health.catalogue import Seen
from rehi.operations.health.strays import Strays
from rehi.ports import GraphChange, GraphContext, QueryLimits, ReplaceGraph

CHUNK = 100  # subjects that are compared at once
SAMPLED = 2  # chunks of each topic that a quick look compares
TRIES = 20  # to find a moment in which a chunk can be judged
PAUSE = 0.3  # seconds between two tries
STRAY = "descriptions are of nothing that the catalogue knows"
_LIMITS = QueryLimits(seconds=600.0)
_MOST = 1 << 62  # subjects have smaller numbers


@dataclass(slots=True)
class _Comparison:
    """The state of a comparison of the graph with the catalogue."""

    compared: int = 0
    unsure: int = 0  # subjects that were on their way each time
    wrong: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # topics that raised an error of their own
    strays: Strays | None = None  # looked for by a deep look only
    stray: int = 0
    strays_named: list[str] = field(default_factory=list)  # the first of them


def examine(house: House, *, deep: bool) -> Seen:
    """Look at the mark, and at what the graph says of some subjects or of all; a deep look reads every table, too."""
    if owner := house.graph_owner:
        return Seen(f"it lies with the worker {owner}: look there", [])
    record = house.catalogue.graph_record(*rewritten_kinds())
    if record.rewriting:
        return Seen("", [_ailment(f"it is being written again, {record.left:,} are left: {record.rewriting}")])
    if why := _check_mark(house):
        return Seen("", [_ailment(why)])
    if house.catalogue.graph_record().mark is None:
        return Seen("it has no mark yet; the next harvest gives it one", [])
    ailments = [_ailment(why) for why in house.graph.verify()] if deep else []
    with Strays(house) as strays:
        done = _Comparison(strays=strays if deep else None)
        try:
            _compare_all(house, done)
        except (EngineError, QueryError) as error:
            ailments.append(_ailment(str(error)))
    if done.wrong:
        some = ", ".join(done.wrong[:5])
        ailments.append(
            _ailment(f"{len(done.wrong):,} of {done.compared:,} descriptions are not what they were: {some}")
        )
    rest = f", {done.unsure:,} were just changing" if done.unsure else ""
    if done.stray:
        some = ", ".join(done.strays_named)
        ailments.append(_ailment(f"{done.stray:,} {STRAY}: {some}"))
    if strays.foreign:
        rest += f", {strays.foreign:,} graphs are not ours and left alone: {', '.join(strays.foreigners)}"
    rest += f", but none of the topics that fail: {', '.join(done.failed)}" if done.failed else ""
    return Seen(f"{done.compared:,} descriptions compared{rest}", ailments)


def remove_strays(house: House) -> Iterator[str]:
    """Remove what is stray, set aside as N-Quads before; yield what was done. Nothing if the graph must be renewed instead."""
    path, batch = house.settings.data / "graph-strays.nq", list[GraphChange]()
    with Strays(house) as strays, lock_folder(house.settings.data), house.writing_graph() as graph:
        _compare_all(house, done := _Comparison(strays=strays), judging=False)
        if done.failed:
            return
        removed = 0
        removals = strays.find()
        while batch := list(islice(removals, CHUNK)):
            with path.open("ab") as file:
                if not all(strays.set_aside(change, file) for change in batch):
                    return
                file.flush()
                os.fsync(file.fileno())
            mark = house.catalogue.graph_record().mark
            if mark is None:
                return
            mark = replace(mark, batch=mark.batch + 1)
            graph.write([*batch, describe_mark(house.settings.base, mark)])
            owner = "" if graph.shared else house.worker
            if not house.catalogue.record_descriptions([], statements={}, mark=mark, owner=owner):
                return  # another worker has taken the graph over
            removed += len(batch)
        graph.publish()
    if removed and not strays.nameless:
        yield f"{removed:,} descriptions of nothing that the catalogue knows were removed from the graph, and are in {path.name}"


def _compare_all(house: House, done: _Comparison, *, judging: bool = True) -> None:
    """Go through all topics; a deep look lists first what the graph holds, and says at last what is stray."""
    topics, strays = load_topics(), done.strays
    if strays is not None:
        strays.all_topics = topics.keys() == table("topic").keys()
        strays.list_held()
    for kind, topic in sorted(topics.items()):
        try:
            for subjects in _chunks(house, topic, deep=strays is not None):
                if judging:
                    _compare(house, topic, subjects, done)
                elif strays is not None:
                    strays.account([change for one in _describe(house, topic, subjects).values() for change in one])
        except TopicFailed:
            done.failed.append(kind)
    if strays is not None and judging and not done.failed:
        for change in strays.find():
            done.stray += 1
            if len(done.strays_named) < 5:
                done.strays_named.append(str(change.graph if isinstance(change, ReplaceGraph) else change.subject))
        done.stray += strays.nameless


def _ailment(why: str) -> Ailment:
    return Ailment(part=HousePart.GRAPH, subject="graph", why=why)


def _check_mark(house: House) -> str:
    """Return what the mark says against the graph. Who writes it looks for itself, so that then only its generation counts."""
    record = house.catalogue.graph_record()
    graph = house.graph
    try:
        with suppress(DataFolderBusy), lock_folder(house.settings.data), house.writing_graph() as writable:
            writable.publish()  # what a killed process wrote may be in no checkpoint
            mark = read_mark(writable.read(mark_graph(house.settings.base)))
            condition = compare_marks(
                record, mark, size=writable.size() if record.mark is None else 0, shared=graph.shared
            )
            return "" if condition is GraphCondition.WHOLE else f"it is {condition.value}"
        mark = read_mark(graph.read(mark_graph(house.settings.base)))
    except EngineError as error:
        return str(error)
    again = house.catalogue.graph_record().mark  # it may have been begun anew meanwhile
    if record.mark is None or record.mark != again or (mark and mark.generation == record.mark.generation):
        return ""
    return f"it is {(GraphCondition.OTHER if mark else GraphCondition.MISSING).value}"


def _chunks(house: House, topic: GraphTopic, *, deep: bool) -> Iterator[Sequence[int]]:
    """Yield all subjects of a topic in parts, or some parts by lot."""
    context = _context(house)
    if deep:
        yield from topic.all_subjects(context, limit=CHUNK)
        return
    first = topic.subjects(context, after=ALL, limit=CHUNK)
    yield first
    if len(first) == CHUNK:
        beyond = first[-1]
        while beyond < _MOST and topic.subjects(context, after=beyond, limit=1):
            beyond *= 2
        for _ in range(SAMPLED):
            yield topic.subjects(context, after=random.randrange(beyond), limit=CHUNK)  # noqa: S311 - no secret


def _compare(house: House, topic: GraphTopic, subjects: Sequence[int], done: _Comparison) -> None:
    """Compare a part of the subjects, again until all could be judged or it was tried often enough."""
    left = set(subjects)
    for attempt in range(TRIES):
        judged = _judge(house, topic, sorted(left), done.strays)
        done.compared += len(judged)
        done.wrong += [f"{topic.name} {subject}" for subject, same in sorted(judged.items()) if not same]
        left -= judged.keys()
        if not left or (attempt and not is_locked(house.settings.data)):
            break
        time.sleep(PAUSE)
    done.unsure += len(left)


def _judge(
    house: House, topic: GraphTopic, subjects: Collection[int], strays: Strays | None = None
) -> Mapping[int, bool]:
    """Return whether the graph says of subjects what it should, for those of which it can be told."""
    before = _moment(house, topic, subjects)
    described = _describe(house, topic, subjects)
    changes = [change for subject in subjects for change in described.get(subject, ())]
    if strays is not None:
        strays.account(changes)
    mark, statements = read_statements(house.graph, house.settings.base, changes, limits=_LIMITS)
    after = _moment(house, topic, subjects)
    if before[0] != after[0] or before[0] is None or mark is None:
        return {}
    if mark.generation != before[0].generation or mark.batch < before[0].batch:
        return {}
    settled = set(subjects) - before[1] - after[1]
    return {subject: all(_is_said(change, statements) for change in described.get(subject, ())) for subject in settled}


def _describe(house: House, topic: GraphTopic, subjects: Collection[int]) -> Mapping[int, Sequence[GraphChange]]:
    return topic.describe(list(subjects), _context(house))


def _context(house: House) -> GraphContext:
    return GraphContext(catalogue=house.catalogue, base=house.settings.base, note=lambda *_: None)


def _moment(house: House, topic: GraphTopic, subjects: Collection[int]) -> tuple[GraphMark | None, set[int]]:
    waiting = _untold(house, topic, subjects)
    return house.catalogue.graph_record().mark, waiting


def _untold(house: House, topic: GraphTopic, subjects: Collection[int]) -> set[int]:
    """Return those of the subjects that may be on their way to the graph: what waits for a topic comes to those that follow it."""
    waiting = set(house.catalogue.untold(topic.name, [ALL, *subjects]))
    if topic.leader is not None and not topic.has_own:
        waiting |= _untold(house, topic.leader, subjects)
    elif topic.leader is not None and house.catalogue.untold(topic.leader.name):
        return set(subjects)  # which of its own are concerned is known only when it is told
    return set(subjects) if ALL in waiting else waiting & set(subjects)


def _is_said(change: GraphChange, statements: Mapping[GraphChange, object]) -> bool:
    return statements[change] == set(change.triples)
