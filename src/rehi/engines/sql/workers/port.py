"""Workers: who they are, who owns the embedded graph, and the updates to which each adds its share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.index.tally import count_due
from rehi.engines.sql.outbox.port import DISCOVER, READ
from rehi.engines.sql.statements.driver import Upsert, newest
from rehi.engines.sql.statements.values import from_micros, storable, to_micros
from rehi.engines.sql.tables import host, outbox, ownership, update_round, update_share
from rehi.engines.sql.tables import worker as table
from rehi.errors import NotFound
from rehi.model.listing import Page
from rehi.model.update import COUNTS, Update, UpdateKind, UpdateState
from rehi.model.worker import Worker

_SECONDS = "seconds:"
_RUNNING = UpdateState.RUNNING.value
_UNIQUE = ("update_id", "worker", "what")
_ADD = Upsert(update_share, (*_UNIQUE, "n"), unique=_UNIQUE, change={"n": "update_share.n + new.n"})
GRAPH = "graph"
_COLUMNS = ("machine", "process", "version", "address", "archive", "graph", "started_at", "seen_at", "ended_at")
_SIGN = Upsert(table, ("name", *_COLUMNS), unique=("name",), change=newest(_COLUMNS))
_OWN = Upsert(ownership, ("what", "worker", "uri", "since"), unique=("what",))
_TAKE = Upsert(
    ownership, ("what", "worker", "uri", "since"), unique=("what",), change=newest(("worker", "uri", "since"))
)


class SqlWorkers:
    """Implements the port Workers on SQL."""

    database: Database

    def sign(self, worker: Worker) -> None:
        """Enter a worker, or its newest sign of life."""
        row = (
            storable(worker.name), storable(worker.machine), worker.process, worker.version, storable(worker.address),
            storable(worker.archive), storable(worker.graph), to_micros(worker.started_at), to_micros(worker.seen_at),
            to_micros(worker.ended_at),
        )  # fmt: skip
        self.database.write(lambda connection: _SIGN.run(connection, [row]), lasting=False)

    def workers(self, *, now: datetime) -> Sequence[Worker]:
        """Return all workers, with what each holds, the one seen last first."""
        at = to_micros(now)
        leased = select(host.c.worker, func.count().label("n")).where(host.c.lease_until > at).group_by(host.c.worker)
        subjects = func.count(outbox.c.subject.distinct()).label("n")
        claimed = select(outbox.c.worker, outbox.c.kind, subjects).where(outbox.c.claimed_until > at)
        claimed = claimed.where(outbox.c.worker.is_not(None)).group_by(outbox.c.worker, outbox.c.kind)
        owned = select(outbox.c.owner, outbox.c.kind, subjects).where(
            outbox.c.kind.in_((READ, DISCOVER)), outbox.c.owner != "", outbox.c.claimed_until <= at
        )
        with self.database.reading() as connection:
            hosts = {row.worker: row.n for row in connection.execute(leased)}
            waiting: defaultdict[str, dict[str, int]] = defaultdict(dict)
            for row in connection.execute(owned.group_by(outbox.c.owner, outbox.c.kind)):
                waiting[row.owner][row.kind] = row.n
            claims: defaultdict[str, dict[str, int]] = defaultdict(dict)
            for row in connection.execute(claimed):
                claims[row.worker][row.kind] = row.n
            owner = connection.execute(select(ownership.c.worker).where(ownership.c.what == GRAPH)).scalar()
            rows = connection.execute(select(table).order_by(table.c.seen_at.desc(), table.c.name)).all()
            return [
                _to_worker(row, hosts.get(row.name, 0), claims[row.name], waiting[row.name], owner == row.name)
                for row in rows
            ]

    @transaction
    def own_graph(self, connection: Connection, worker: str, *, uri: str, now: datetime, take: bool = False) -> str:
        """Return the worker that owns the embedded graph: this one if none did before, or if it is to take it."""
        (_TAKE if take else _OWN).run(connection, [(GRAPH, storable(worker), storable(uri), to_micros(now))])
        owner = select(ownership.c.worker).where(ownership.c.what == GRAPH)
        return str(connection.execute(owner).scalar_one())

    @transaction
    def begin_update(
        self, connection: Connection, kind: UpdateKind, *, worker: str, due: int | None = None, now: datetime
    ) -> Update:
        """Open a row for what is due, or so many pages; return it. Those that this worker left open are closed as stopped."""
        who, at = storable(worker), to_micros(now)
        due = count_due(connection, now) if due is None else due
        left = update(update_round).where(update_round.c.worker == who, update_round.c.state == _RUNNING)
        row = {"kind": kind.value, "state": _RUNNING, "worker": who, "started_at": at, "due": due}
        connection.execute(left.values(state=UpdateState.STOPPED.value, ended_at=at))
        update_id = connection.execute(insert(update_round).values(row).returning(update_round.c.id)).scalar_one()
        return _find(connection, select(update_round).where(update_round.c.id == update_id))[0]

    @transaction
    def change_update(
        self,
        connection: Connection,
        update_id: int,
        *,
        worker: str = "",
        seconds: Mapping[str, float] | None = None,
        state: UpdateState | None = None,
        now: datetime,
    ) -> None:
        """Add time that a worker has spent by stage, and close the row with a state, if one is given; the first one holds."""
        spent = {f"{_SECONDS}{storable(stage)}": n for stage, n in (seconds or {}).items()}
        add_to_share(connection, update_id, worker, spent)
        if state is None:
            return
        closed = update(update_round).where(update_round.c.id == update_id, update_round.c.state == _RUNNING)
        ended = connection.execute(closed.values(state=state.value, ended_at=to_micros(now))).rowcount
        known = select(update_round.c.id).where(update_round.c.id == update_id)
        if not ended and connection.execute(known).first() is None:
            raise NotFound(f"there is no update {update_id}")

    def updates(self, page: Page, *, running: bool = False) -> tuple[Sequence[Update], int]:
        """Return updates, all or those that run, the newest first, and how many there are in all."""
        conditions = [update_round.c.state == _RUNNING] if running else []
        rows = select(update_round).where(*conditions).order_by(update_round.c.id.desc())
        rows = rows.limit(page.limit).offset(page.offset)
        total = select(func.count()).select_from(update_round).where(*conditions)
        return self.database.read(lambda c: (_find(c, rows), c.execute(total).scalar_one()))


def _to_worker(row: Any, hosts: int, claims: dict[str, int], waiting: dict[str, int], owns_graph: bool) -> Worker:
    return Worker(
        name=row.name,
        machine=row.machine,
        process=row.process,
        version=row.version,
        address=row.address,
        archive=row.archive,
        graph=row.graph,
        started_at=from_micros(row.started_at),
        seen_at=from_micros(row.seen_at),
        ended_at=from_micros(row.ended_at),
        owns_graph=owns_graph,
        hosts=hosts,
        claims=claims,
        waiting=waiting.get(READ, 0),
        waiting_sources=waiting.get(DISCOVER, 0),
    )


def add_to_share(connection: Connection, update_id: int, worker: str, numbers: Mapping[str, float]) -> None:
    """Add to what a worker did for an update."""
    who = storable(worker)
    _ADD.run(connection, [(update_id, who, name, float(n)) for name, n in sorted(numbers.items())])


def _find(connection: Connection, query: Any) -> list[Update]:
    rows = connection.execute(query).all()
    shares: defaultdict[int, list[Any]] = defaultdict(list)
    query = select(update_share).where(update_share.c.update_id.in_([row.id for row in rows]))
    for share in connection.execute(query) if rows else ():
        shares[share.update_id].append(share)
    return [_to_update(row, shares[row.id]) for row in rows]


def _to_update(row: Any, shares: Sequence[Any]) -> Update:
    sums: defaultdict[str, float] = defaultdict(float)
    for share in shares:
        sums[share.what] += share.n
    return Update(
        id=row.id,
        kind=UpdateKind(row.kind),
        state=UpdateState(row.state),
        started_at=from_micros(row.started_at),
        ended_at=from_micros(row.ended_at),
        due=row.due,
        workers=len({share.worker for share in shares if share.n}),
        counts={name: int(sums[name]) for name in COUNTS},
        seconds={name.removeprefix(_SECONDS): n for name, n in sorted(sums.items()) if name.startswith(_SECONDS)},
    )
