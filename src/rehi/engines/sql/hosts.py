"""Hosts: made from the origins of URLs, woken when something is due, given back after a visit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, bindparam, case, or_, select, text, update

from rehi.engines.sql.database import chunks, gather, run_many
from rehi.engines.sql.insertion import Insertion
from rehi.engines.sql.moment import to_micros
from rehi.engines.sql.schema import host
from rehi.engines.sql.text import key_of
from rehi.model.work import HostRelease

_ENTER = Insertion(host, ("key", "origin", "name"), unique=("key",))
_WAKE_AT = case((host.c.not_before > bindparam("due"), host.c.not_before), else_=bindparam("due"))
_WAKE = (
    update(host)
    .where(host.c.id == bindparam("host"), or_(host.c.ready_at.is_(None), host.c.ready_at > _WAKE_AT))
    .values(ready_at=_WAKE_AT)
)
_WAKE_TOGETHER = (
    update(host)
    .where(
        host.c.id.in_(bindparam("hosts", expanding=True)), or_(host.c.ready_at.is_(None), host.c.ready_at > _WAKE_AT)
    )
    .values(ready_at=_WAKE_AT)
)
# Without an aggregate, since SQLite would read all URLs of the host for it.
_NEXT_DUE = "(SELECT due_at FROM resource WHERE host_id = host.id AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)"
_RELEASE = text(f"""
    UPDATE host SET token = NULL, worker = NULL, lease_until = 0, delay = :delay, not_before = :ready,
        failures = CASE WHEN :failed = 1 THEN failures + 1 ELSE 0 END,
        ready_at = CASE WHEN {_NEXT_DUE} > :ready THEN {_NEXT_DUE} WHEN {_NEXT_DUE} <= :ready THEN :ready END
    WHERE id = :host AND token = :token
""")  # noqa: S608
_POSTPONE = text(f"""
    UPDATE host SET ready_at = CASE WHEN {_NEXT_DUE} > not_before THEN {_NEXT_DUE} WHEN {_NEXT_DUE} <= not_before THEN not_before END
    WHERE id = :host
""")  # noqa: S608


def origin_of(url: str) -> str:
    """The scheme, host and port of a normalised URL; found by hand, for it is done for each line of a log."""
    start = url.find("://") + 3
    end = url.find("/", start)
    origin = url if end < 0 else url[:end]
    if "@" in origin:
        return origin[:start] + origin.rpartition("@")[2]
    return origin


def ensure_hosts(connection: Connection, origins: Iterable[str]) -> dict[str, int]:
    """The ids of origins; those that are new are entered."""
    keys = {key_of(origin): origin for origin in origins}
    found = _find(connection, keys)
    missing = sorted(key for key, origin in keys.items() if origin not in found)
    if missing:
        rows = [{"key": key, "origin": keys[key], "name": keys[key].partition("://")[2]} for key in missing]
        _ENTER.enter(connection, rows)
        found |= _find(connection, {key: keys[key] for key in missing})
    return found


def _find(connection: Connection, keys: Mapping[bytes, str]) -> dict[str, int]:
    rows = gather(connection, keys, lambda part: select(host.c.id, host.c.origin).where(host.c.key.in_(part)))
    return {row.origin: row.id for row in rows}


def wake_hosts(connection: Connection, due: Mapping[int, int]) -> None:
    """Let hosts be ready when something is due there, though not before politeness allows."""
    run_many(connection, _WAKE, [{"host": host_id, "due": at} for host_id, at in sorted(due.items())])


def wake_together(connection: Connection, host_ids: Iterable[int], due: int) -> None:
    """The same for many hosts at one time, in few statements."""
    for chunk in chunks(sorted(host_ids)):
        connection.execute(_WAKE_TOGETHER, {"hosts": chunk, "due": due})


def postpone_hosts(connection: Connection, host_ids: Iterable[int]) -> None:
    """Let hosts be ready when the next of their URLs is due."""
    run_many(connection, _POSTPONE, [{"host": host_id} for host_id in sorted(host_ids)])


def release_hosts(connection: Connection, released: Sequence[HostRelease]) -> None:
    """Take leases back from those who still hold them."""
    rows = [
        {
            "host": release.host_id,
            "token": release.token,
            "ready": to_micros(release.ready_at),
            "delay": release.delay,
            "failed": int(release.failed),
        }
        for release in sorted(released, key=lambda release: release.host_id)
    ]
    run_many(connection, _RELEASE, rows)
