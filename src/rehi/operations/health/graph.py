"""The graph's health: its mark, its own tables, and what it says, compared with what the catalogue would have it say.

Beside a harvest a subject is judged only if nothing of it can be on its way. Asked in this order: the mark that the catalogue
knows and what waits in the outbox, the description, the published graph with its mark, and mark and outbox once more. If the
catalogue's mark has not moved, the published one is not behind it, and nothing waited before or after, then the description
was the same all the time and is part of what was published.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from rehi.app import House, lock_folder, utc_now
from rehi.builtin import load_all
from rehi.errors import DataFolderBusy, EngineError, QueryError, RehiError, TopicFailed
from rehi.folder_lock import is_locked
from rehi.graph import compare_marks, mark_graph, read_mark, read_statements
from rehi.model.generation import GraphCondition, GraphMark
from rehi.operations.health.ailment import Ailment, HousePart
from rehi.operations.health.catalogue import Seen
from rehi.ports import GraphChange, GraphContext, QueryLimits, Topic

CHUNK = 100  # subjects that are compared at once
SAMPLED = 2  # chunks of each topic that a quick look compares
TRIES = 20  # to find a moment in which a chunk can be judged
PAUSE = 0.3  # seconds between two tries
_LIMITS = QueryLimits(seconds=600.0)


@dataclass(slots=True)
class _Comparison:
    """What was compared so far."""

    compared: int = 0
    unsure: int = 0  # subjects that were on their way each time
    wrong: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # topics that raised an error of their own


def examine(house: House, *, deep: bool) -> Seen:
    """Look at the mark, and at what the graph says of some subjects or of all; a deep look reads every table, too."""
    if house.graph_owner:
        return f"it lies with the worker {house.graph_owner}: look there", []
    record = house.catalogue.graph_record()
    if record.rewriting:
        return "", [_ailment(f"it is being written again, {record.left:,} are left: {record.rewriting}")]
    if why := _check_mark(house):
        return "", [_ailment(why)]
    if house.catalogue.graph_record().mark is None:
        return "it has no mark yet; the next harvest gives it one", []
    ailments = []
    if deep:
        ailments += [_ailment(why) for why in house.graph.verify()]
    done = _Comparison()
    try:
        for kind, topic in sorted(load_all("topic").items()):
            try:
                for subjects in _chunks(house, topic.follows or kind, deep=deep):
                    _compare(house, kind, topic, subjects, done)
            except TopicFailed:
                done.failed.append(kind)
    except (EngineError, QueryError) as error:
        ailments.append(_ailment(str(error)))
    if done.wrong:
        some = ", ".join(done.wrong[:5])
        ailments.append(
            _ailment(f"{len(done.wrong):,} of {done.compared:,} descriptions are not what they were: {some}")
        )
    rest = f", {done.unsure:,} were just changing" if done.unsure else ""
    rest += f", but none of the topics that fail: {', '.join(done.failed)}" if done.failed else ""
    return f"{done.compared:,} descriptions compared{rest}", ailments


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


def _chunks(house: House, kind: str, *, deep: bool) -> Iterator[Sequence[int]]:
    """Yield all subjects of a kind in parts, or some parts by lot."""
    first = house.catalogue.graph_subjects(kind, after=0, limit=CHUNK)
    if deep:
        while first:
            yield first
            first = house.catalogue.graph_subjects(kind, after=first[-1], limit=CHUNK)
        return
    yield first
    if len(first) == CHUNK:
        totals = house.catalogue.totals(now=utc_now())
        about = sum(totals.entities.values()) if kind == "entity" else totals.resources
        for _ in range(SAMPLED):
            start = random.randint(0, max(about - CHUNK, 0))  # noqa: S311 - no secret
            yield house.catalogue.graph_subjects(kind, after=start, limit=CHUNK)


def _compare(house: House, kind: str, topic: Topic, subjects: Sequence[int], done: _Comparison) -> None:
    """Compare a part of the subjects, again until all could be judged or it was tried often enough."""
    left = set(subjects)
    for attempt in range(TRIES):
        judged = _judge(house, kind, topic, sorted(left))
        done.compared += len(judged)
        done.wrong += [f"{kind} {subject}" for subject, same in sorted(judged.items()) if not same]
        left -= judged.keys()
        if not left or (attempt and not is_locked(house.settings.data)):
            break
        time.sleep(PAUSE)
    done.unsure += len(left)


def _judge(house: House, kind: str, topic: Topic, subjects: Collection[int]) -> Mapping[int, bool]:
    """Return whether the graph says of subjects what it should, for those of which it can be told."""
    catalogue = house.catalogue
    before = _moment(house, kind, subjects)
    context = GraphContext(catalogue=catalogue, base=house.settings.base, note=lambda *_: None)
    try:
        described = topic.describe(list(subjects), context)
    except RehiError:
        raise
    except Exception as error:  # an outsider's topic may raise whatever it likes
        raise TopicFailed(f"{type(error).__name__}: {error}") from error
    changes = [change for subject in subjects for change in described.get(subject, ())]
    mark, statements = read_statements(house.graph, house.settings.base, changes, limits=_LIMITS)
    after = _moment(house, kind, subjects)
    if before[0] != after[0] or before[0] is None or mark is None:
        return {}
    if mark.generation != before[0].generation or mark.batch < before[0].batch:
        return {}
    settled = set(subjects) - before[1] - after[1]
    return {subject: all(_is_said(change, statements) for change in described.get(subject, ())) for subject in settled}


def _moment(house: House, kind: str, subjects: Collection[int]) -> tuple[GraphMark | None, set[int]]:
    waiting = set(house.catalogue.untold(kind, subjects))
    return house.catalogue.graph_record().mark, waiting


def _is_said(change: GraphChange, statements: Mapping[GraphChange, object]) -> bool:
    return statements[change] == set(change.triples)
