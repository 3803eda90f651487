"""Updates: rounds of visits, and what each worker adds to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from rehi.engines.sql.statements.bulk import Upsert
from rehi.engines.sql.statements.values import from_micros, maybe_from_micros, storable, to_micros
from rehi.engines.sql.tables import update_round, update_share
from rehi.errors import NotFound
from rehi.model.listing import Page
from rehi.model.update import COUNTS, Update, UpdateKind, UpdateState

_SECONDS = "seconds:"
_RUNNING = UpdateState.RUNNING.value
_UNIQUE = ("update_id", "worker", "what")
_ADD = Upsert(update_share, (*_UNIQUE, "n"), unique=_UNIQUE, change={"n": "update_share.n + new.n"})


def begin_update(connection: Connection, kind: UpdateKind, *, worker: str, due: int, now: datetime) -> Update:
    """Open a row; those that this worker left open are closed as stopped."""
    who, at = storable(worker), to_micros(now)
    left = update(update_round).where(update_round.c.worker == who, update_round.c.state == _RUNNING)
    connection.execute(left.values(state=UpdateState.STOPPED.value, ended_at=at))
    row = {"kind": kind.value, "state": _RUNNING, "worker": who, "started_at": at, "due": due}
    entered = insert(update_round).values(row).returning(update_round.c.id)
    update_id = connection.execute(entered).scalar_one()
    return _find(connection, select(update_round).where(update_round.c.id == update_id))[0]


def spend_time(connection: Connection, update_id: int, worker: str, seconds: Mapping[str, float]) -> None:
    """Add the time that a worker has spent by stage."""
    add_to_share(connection, update_id, worker, {f"{_SECONDS}{storable(stage)}": n for stage, n in seconds.items()})


def end_update(connection: Connection, update_id: int, state: UpdateState, *, now: datetime) -> None:
    """Close a row; how it ended is said once."""
    closed = update(update_round).where(update_round.c.id == update_id, update_round.c.state == _RUNNING)
    closed = closed.values(state=state.value, ended_at=to_micros(now))
    known = select(update_round.c.id).where(update_round.c.id == update_id)
    if not connection.execute(closed).rowcount and connection.execute(known).first() is None:
        raise NotFound(f"there is no update {update_id}")


def list_updates(connection: Connection, page: Page, *, running: bool) -> tuple[Sequence[Update], int]:
    """Return updates, the newest first, and how many there are in all."""
    which = [update_round.c.state == _RUNNING] if running else []
    rows = select(update_round).where(*which).order_by(update_round.c.id.desc()).limit(page.limit).offset(page.offset)
    total = select(func.count()).select_from(update_round).where(*which)
    return _find(connection, rows), connection.execute(total).scalar_one()


def add_to_share(connection: Connection, update_id: int, worker: str, numbers: Mapping[str, float]) -> None:
    """Add to what a worker did for an update."""
    who = storable(worker)
    rows = [{"update_id": update_id, "worker": who, "what": what, "n": float(n)} for what, n in sorted(numbers.items())]
    _ADD.run(connection, rows)


def _find(connection: Connection, query: Any) -> list[Update]:
    rows = connection.execute(query).all()
    shares: defaultdict[int, list[Any]] = defaultdict(list)
    which = select(update_share).where(update_share.c.update_id.in_([row.id for row in rows]))
    for share in connection.execute(which) if rows else ():
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
        ended_at=maybe_from_micros(row.ended_at),
        due=row.due,
        workers=len({share.worker for share in shares if share.n}),
        counts={what: int(sums[what]) for what in COUNTS},
        seconds={what.removeprefix(_SECONDS): n for what, n in sorted(sums.items()) if what.startswith(_SECONDS)},
    )
