"""Recording: what came of read tasks, stored with all that follows from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.index.tally import HOUSE, Additions
from rehi.engines.sql.knowledge.entities import count_mentions, enter_mentions
from rehi.engines.sql.knowledge.readings import enter_readings
from rehi.engines.sql.ledger.problems import clear_problems, keep_problems
from rehi.engines.sql.outbox.port import delete_work, put_owned_work, put_work
from rehi.engines.sql.sources.findings import FOLLOW, source_ids_of, those_followed
from rehi.engines.sql.statements.driver import BulkDelete, BulkUpdate, SelectMany, Upsert, newest
from rehi.engines.sql.statements.values import from_micros
from rehi.engines.sql.tables import document, outbox, resource
from rehi.model.work import NewReading, ReadResult, ReadVersion
from rehi.ports import ReadRules

_SHOW = Upsert(
    document,
    ("resource_id", "version_id", "reading_id"),
    unique=("resource_id",),
    change=newest(("version_id", "reading_id")),
)
_HIDE = BulkDelete(document.c.resource_id)
_RETRY = BulkUpdate(
    outbox,
    {"id": "bigint", "tried": "bigint"},
    {"attempts": "new.tried", "worker": "NULL", "claimed_until": "0"},
    where="outbox.id = new.id",
)
_READ = BulkUpdate(
    resource, {"id": "bigint", "read": "bigint"}, {"read_number": "new.read"}, where="resource.id = new.id"
)
_OPEN = SelectMany("SELECT id FROM outbox", "id", "bigint", order="id", lock="FOR UPDATE")
_VERSIONS = SelectMany("SELECT id, number, taken_at FROM version", "id", "bigint")
_RESOURCES = SelectMany("SELECT id, url FROM resource", "id", "bigint", order="id", lock="FOR NO KEY UPDATE")
# Asked once the resources are locked: a join in the query above would show what was read before we had to wait.
_READ_AT = SelectMany(
    "SELECT resource.id, version.taken_at FROM resource"
    " JOIN version ON version.resource_id = resource.id AND version.number = resource.read_number",
    "resource.id",
    "bigint",
)
_SHOWN = SelectMany("SELECT document.resource_id, document.reading_id FROM document", "document.resource_id", "bigint")
_FACTS = SelectMany("SELECT id, media_type, language, names, recipe FROM reading", "id", "bigint")


class SqlRecording:
    """The methods of the port Knowledge that record what came of read tasks."""

    database: Database

    @transaction
    def record_reads(
        self,
        connection: Connection,
        results: Sequence[ReadResult],
        *,
        rules: ReadRules,
        worker: str,
        now: datetime,
    ) -> None:
        """Record in one transaction what came of read tasks that are still open."""
        rows = _OPEN.run(connection, sorted({row for one in results for row in one.task.claim.ids}))
        there = {row.id for row in rows}
        by_claim = {one.task.claim: one for one in reversed(results)}
        still_open = [one for claim, one in by_claim.items() if not there.isdisjoint(claim.ids)]
        tried = [(row, one.attempts) for one in still_open if one.retry for row in one.task.claim.ids if row in there]
        _RETRY.run(connection, tried)
        done = [one for one in still_open if not one.retry]
        if done:
            additions = Additions()
            _store(connection, done, rules, worker, now, additions)
            delete_work(connection, [row for one in done for row in one.task.claim.ids])
            additions.write(connection, self.database)


def _store(
    connection: Connection,
    done: Sequence[ReadResult],
    rules: ReadRules,
    worker: str,
    now: datetime,
    additions: Additions,
) -> None:
    resources = {row.id: row for row in _RESOURCES.run(connection, sorted({one.task.resource_id for one in done}))}
    new = {one.reading.key: one.reading for one in reversed(done) if isinstance(one.reading, NewReading)}
    sources = source_ids_of(connection, resources)
    ids, fresh = enter_readings(connection, new, worker, now)
    if identified := enter_mentions(connection, {ids[key]: new[key].identities for key in fresh}):
        put_work(connection, "entity", identified)
    for one in done:
        spent = {f"seconds:{stage}": seconds for stage, seconds in one.seconds}
        additions.add_all(sources.get(one.task.resource_id, ()), spent)
    shown = _ask_shown(connection, done, rules)
    if not shown:
        return
    _READ.run(connection, [(row, version.number) for row, version in shown.items()])
    before = {row.resource_id: row.reading_id for row in _SHOWN.run(connection, list(shown))}
    after = {
        row: ids[read.key] if isinstance(read := version.result.reading, NewReading) else read
        for row, version in shown.items()
    }
    versions = {row: version.result.task.version_id for row, version in shown.items()}
    _SHOW.run(connection, [(row, versions[row], read) for row, read in after.items() if read is not None])
    _HIDE.run(connection, [row for row, read in after.items() if read is None])
    _count_documents(connection, before, after, sources, additions)
    put_work(connection, "entity", count_mentions(connection, before, after, rules.choose_name, additions))
    put_work(connection, "resource", shown)
    put_owned_work(connection, FOLLOW, those_followed(connection, shown))
    clear_problems(
        connection, [(stage, resources[row].url) for row, version in shown.items() for stage in version.result.solved]
    )
    if noted := [version.result.problem for version in shown.values() if version.result.problem is not None]:
        keep_problems(connection, noted)
    for row, version in shown.items():
        if code := version.result.code:
            additions.add_all(sources.get(row, ()), {code: 1})


def _ask_shown(connection: Connection, done: Sequence[ReadResult], rules: ReadRules) -> dict[int, ReadVersion]:
    """Return the versions that resources show from now on, in the order of the resources' ids."""
    versions = {row.id: row for row in _VERSIONS.run(connection, sorted({one.task.version_id for one in done}))}
    read: defaultdict[int, list[ReadVersion]] = defaultdict(list)
    for one in done:
        version = versions[one.task.version_id]
        read[one.task.resource_id].append(ReadVersion(version.number, from_micros(version.taken_at), one))
    before = {row.id: from_micros(row.taken_at) for row in _READ_AT.run(connection, sorted(read))}
    chosen = ((row, rules.choose_shown(some, before.get(row))) for row, some in sorted(read.items()))
    return {row: shown for row, shown in chosen if shown is not None}


def _count_documents(
    connection: Connection,
    before: Mapping[int, int],
    after: Mapping[int, int | None],
    sources: Mapping[int, Sequence[int]],
    additions: Additions,
) -> None:
    wanted = {*before.values(), *(one for one in after.values() if one is not None)}
    facts = {row.id: row for row in _FACTS.run(connection, sorted(wanted))}
    for sign, shown in ((-1, before), (1, after)):
        for resource_id, reading_id in shown.items():
            if reading_id is None:
                continue
            read = facts[reading_id]
            additions.add_all(sources.get(resource_id, ()), {"documents": sign, "names": sign * read.names})
            additions.add(HOUSE, "documents", sign)
            additions.add(HOUSE, "mentions", sign * read.names)
            for name in (f"type:{read.media_type}", f"language:{read.language}", f"recipe:{read.recipe}"):
                additions.add(HOUSE, name, sign)
