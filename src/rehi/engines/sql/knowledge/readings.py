"""Readings: what came of read tasks, entered with all that follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from rehi.engines.sql.database import Database
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.knowledge.entities import replace_mentions
from rehi.engines.sql.ledger.files import File, keep_files, place_of
from rehi.engines.sql.outbox.graph_list import list_for_graph
from rehi.engines.sql.statements.batches import execute_for_each
from rehi.engines.sql.statements.bulk_delete import BulkDelete
from rehi.engines.sql.statements.bulk_update import BulkUpdate
from rehi.engines.sql.statements.select_many import SelectMany
from rehi.engines.sql.statements.text import storable
from rehi.engines.sql.statements.upsert import Upsert, newest
from rehi.engines.sql.tables import document, outbox, resource
from rehi.engines.sql.upkeep.problems import clear_problems, keep_problems
from rehi.errors import Disposition, RehiError
from rehi.model.problem import Problem, Stage
from rehi.model.work import DocumentFacts, ReadResult

_FACTS = (
    "version_id", "media_type", "title", "searched", "language", "characters", "names", "file_id", "offset", "length",
)  # fmt: skip
_ENTER = Upsert(document, ("resource_id", *_FACTS), unique=("resource_id",), change=newest(_FACTS))
_AGAIN = text("UPDATE outbox SET attempts = :tried, worker = NULL, claimed_until = 0 WHERE id = :row")
_READ = BulkUpdate(
    resource, {"id": "bigint", "read": "bigint"}, {"read_number": "new.read"}, where="resource.id = new.id"
)
_DONE = BulkDelete(outbox.c.id)
_UNREADABLE = BulkDelete(document.c.resource_id)
_TASKS = SelectMany(
    "SELECT outbox.id, outbox.attempts, outbox.subject, outbox.version_id, version.number, version.taken_at,"
    " resource.source_id"
    " FROM outbox JOIN version ON version.id = outbox.version_id"
    " JOIN resource ON resource.id = outbox.subject AND outbox.topic = 'read'",
    "outbox.id",
    "bigint",
    order="outbox.id",
    lock="FOR UPDATE OF outbox",
)
_RESOURCES = SelectMany("SELECT id, source_id, url FROM resource", "id", "bigint", order="id", lock="FOR NO KEY UPDATE")
# Asked once the resources are locked: a join in the question above would show what was read before we had to wait.
_READ_AT = SelectMany(
    "SELECT resource.id, version.taken_at FROM resource"
    " JOIN version ON version.resource_id = resource.id AND version.number = resource.read_number",
    "resource.id",
    "bigint",
)
_DOCUMENTS = SelectMany("SELECT resource_id, media_type, language, names FROM document", "resource_id", "bigint")


@dataclass(frozen=True, slots=True)
class _Reading:
    """The newest reading of one resource in a batch."""

    number: int  # of the version
    version_id: int
    result: ReadResult


def record_readings(connection: Connection, database: Database, results: Sequence[ReadResult], now: datetime) -> None:
    """Enter results whose tasks are still open."""
    tasks = _lock_tasks(connection, results)
    open_results = {result.task.id: result for result in reversed(results) if result.task.id in tasks}
    again = {
        row: tasks[row].attempts + 1 for row, result in open_results.items() if result.next_step is Disposition.RETRY
    }
    execute_for_each(connection, _AGAIN, [{"row": row, "tried": tried} for row, tried in again.items()])
    done = sorted(open_results.keys() - again.keys())
    additions = Additions()
    for row in done:
        for stage, seconds in open_results[row].seconds:
            additions.add(tasks[row].source_id, f"seconds:{stage}", seconds)
    _enter(connection, [(tasks[row], open_results[row]) for row in done], now, additions)
    _DONE.run(connection, done)
    additions.write(connection, database)


def _lock_tasks(connection: Connection, results: Sequence[ReadResult]) -> dict[int, Any]:
    return {row.id: row for row in _TASKS.run(connection, sorted({result.task.id for result in results}))}


def _enter(
    connection: Connection,
    done: Sequence[tuple[Any, ReadResult]],
    now: datetime,
    additions: Additions,
) -> None:
    rows = {row.id: row for row in _RESOURCES.run(connection, sorted({task.subject for task, _ in done}))}
    read_at = {row.id: row.taken_at for row in _READ_AT.run(connection, sorted(rows))}
    readings: dict[int, _Reading] = {}
    for task, result in sorted(done, key=lambda pair: (int(pair[0].taken_at), int(pair[0].number))):
        # By time: numbers say when versions arrived, not when they were valid.
        if task.taken_at >= read_at.get(task.subject, task.taken_at):
            readings[task.subject] = _Reading(task.number, task.version_id, result)
    if not readings:
        return
    _READ.run(connection, [(row, reading.number) for row, reading in sorted(readings.items())])
    _write_documents(connection, readings, rows, additions)
    identities = {
        row: reading.result.identities if reading.result.document else () for row, reading in readings.items()
    }
    changed = replace_mentions(connection, identities, additions)
    list_for_graph(connection, resources=readings, entities=changed)
    _write_problems(connection, readings, rows, now, additions)


def _write_documents(
    connection: Connection,
    readings: Mapping[int, _Reading],
    rows: Mapping[int, Any],
    additions: Additions,
) -> None:
    for old in _DOCUMENTS.run(connection, sorted(readings)):
        _count(additions, rows[old.resource_id].source_id, old.media_type, old.language, old.names, -1)
    facts = {row: reading.result.document for row, reading in sorted(readings.items())}
    files = keep_files(connection, [found.derived for found in facts.values() if found])
    new = []
    for row, found in facts.items():
        if found is not None:
            reading = readings[row]
            names = sum(identity.count for identity in reading.result.identities)
            new.append(_document_row(row, reading.version_id, found, names, files))
            _count(additions, rows[row].source_id, storable(found.media_type), storable(found.language), names, 1)
    _ENTER.run(connection, new)
    _UNREADABLE.run(connection, [row for row, found in facts.items() if found is None])


def _count(additions: Additions, source_id: int | None, media_type: str, language: str, names: int, sign: int) -> None:
    additions.add(source_id, "documents", sign)
    additions.add(source_id, "names", sign * names)
    additions.add_to_house("documents", sign)
    additions.add_to_house("mentions", sign * names)
    additions.add_to_house(f"type:{media_type}", sign)
    additions.add_to_house(f"language:{language}", sign)


def _document_row(
    resource_id: int, version_id: int, facts: DocumentFacts, names: int, files: Mapping[str, File]
) -> dict[str, Any]:
    return {
        "resource_id": resource_id,
        "version_id": version_id,
        "media_type": storable(facts.media_type),
        "title": storable(facts.title),
        "searched": storable(facts.title).casefold(),
        "language": storable(facts.language),
        "characters": facts.characters,
        "names": names,
        **place_of(facts.derived, files),
    }


def _write_problems(
    connection: Connection,
    readings: Mapping[int, _Reading],
    rows: Mapping[int, Any],
    now: datetime,
    additions: Additions,
) -> None:
    cleared, problems = [], []
    for row, reading in readings.items():
        error = reading.result.error
        if reading.result.document is None and error is None:
            error = RehiError("the reading brought neither a document nor an error")
        if error is not None:
            additions.add(rows[row].source_id, error.code)
        if error is None or reading.result.next_step is Disposition.SKIP:
            cleared.append(rows[row].url)
        else:
            problem = Problem.of(error, stage=Stage.EXTRACT, subject=rows[row].url, at=now)
            problems.append(replace(problem, next_step=Disposition.QUARANTINE))
    clear_problems(connection, Stage.EXTRACT, cleared)
    keep_problems(connection, problems)
