"""PostgreSQL: a server that many machines share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    create_engine,
    func,
    literal_column,
    text,
)
from sqlalchemy.exc import DBAPIError

from rehi.engine_address import HIDDEN, hide_secrets, secrets_in
from rehi.engines.sql.dialects.dialect import READY, TASK_COLUMNS, TASK_JOINS, Guarded, NewResource, NewUrls
from rehi.engines.sql.statements.driver import array_of, execute, fetch_all
from rehi.engines.sql.statements.values import HEAD, INDEXED_URL, tail_of
from rehi.errors import CatalogueAway, DiskFull, EngineError, UserError

_CONNECT_TIMEOUT = 10  # seconds
_RETRIED = ("40001", "40P01")  # serialisation failure, deadlock
_DISK_FULL = "53100"
# The connection broke, the server is stopping, starting or recovering, or has no place for one more.
_AWAY = ("08", "57P01", "57P02", "57P03", "53300", "53200")
_PASSING = re.compile(
    "too many (clients|connections)|connection slots are reserved|starting up|shutting down|recovery mode"
    "|not (yet )?accepting connections"
)
_UNKNOWN_HOST = re.compile("Name or service not known|nodename nor servname|No address associated")
# Any numbers that nobody else is likely to take.
_LOCKS = {
    Guarded.SCHEMA: 0x72656869_0001, Guarded.REDIRECTS: 0x72656869_0002, Guarded.CLAIMS: 0x72656869_0003,
}  # fmt: skip

_INTAKE = """
    CREATE TEMPORARY TABLE IF NOT EXISTS intake
    (host_id bigint, url text COLLATE "C", tail text COLLATE "C", source_id bigint, due_at bigint, hops bigint,
    claims text) ON COMMIT DELETE ROWS
"""
_COPY = "COPY intake (host_id, url, tail, source_id, due_at, hops) FROM STDIN"
# In the order of the URLs: two transactions that enter the same ones wait for each other, and never crosswise.
_ADD = f"""
    INSERT INTO resource (host_id, url, tail, source_id, due_at, hops)
    SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[])
        AS new (host_id, url, tail, source_id, due_at, hops)
    ORDER BY (left(url, {HEAD}) || tail) COLLATE "C" ON CONFLICT DO NOTHING
"""  # noqa: S608
_FEW = 500
_INSERT = text(f"""
    INSERT INTO resource (host_id, url, tail, source_id, due_at, hops)
    SELECT host_id, url, tail, source_id, due_at, hops FROM intake ORDER BY left(url, {HEAD}) || tail
    ON CONFLICT DO NOTHING
""")  # noqa: S608
_COPY_FINDINGS = "COPY intake (host_id, url, tail, claims) FROM STDIN"
# What is new leaves the table aside, so that only the rest has to be looked up.
_FIND_NEW = text(f"""
    WITH new AS (
        INSERT INTO resource (host_id, url, tail, source_id, due_at, hops)
        SELECT host_id, url, tail, :source_id, :at, 0 FROM intake ORDER BY left(url, {HEAD}) || tail
        ON CONFLICT DO NOTHING RETURNING id, url
    ), gone AS (DELETE FROM intake USING new WHERE intake.url = new.url RETURNING new.id, intake.claims)
    INSERT INTO finding (source_id, resource_id, first_at, last_at, claims)
    SELECT :source_id, id, :at, :at, claims FROM gone ORDER BY id
""")  # noqa: S608
_FIND_KNOWN = text(f"""
    INSERT INTO finding (source_id, resource_id, first_at, last_at, claims)
    SELECT :source_id, resource.id, :at, :at, intake.claims FROM intake
    JOIN resource ON left(resource.url, {HEAD}) || resource.tail = left(intake.url, {HEAD}) || intake.tail
    ORDER BY resource.id
    ON CONFLICT (source_id, resource_id) DO UPDATE SET last_at = excluded.last_at, claims = excluded.claims
    WHERE finding.last_at < :since OR finding.claims <> excluded.claims
    RETURNING resource_id, xmax = 0 AS entered  -- nobody has locked a row that was not there before
""")  # noqa: S608
_INDEXED: ColumnElement[str] = literal_column(INDEXED_URL)
# NO KEY UPDATE, because a plain UPDATE lock would stop those who enter URLs of the host.
_READY = re.sub(r"(?<!:):(\w+)", r"%(\1)s", READY) + " FOR NO KEY UPDATE OF host SKIP LOCKED"
_DUE = f"""
    SELECT {TASK_COLUMNS} FROM unnest(%(hosts)s::bigint[]) h(id) CROSS JOIN LATERAL (
        SELECT * FROM resource WHERE host_id = h.id AND due_at <= %(now)s ORDER BY due_at, id LIMIT %(limit)s
    ) r {TASK_JOINS} ORDER BY r.host_id, r.due_at, r.id
"""  # noqa: S608


_SEQUENCE = text("SELECT pg_get_serial_sequence(quote_ident(:table), 'id')")


class PostgresDialect:
    """The statements and settings for PostgreSQL."""

    name = "PostgreSQL"
    slots = 16
    ready_hosts = _READY  # those that another worker is just taking are passed over
    url_order: ColumnElement[Any] = _INDEXED  # but for those that share their first 600 characters
    snapshot: Mapping[str, Any] = MappingProxyType({"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})

    def __init__(self, url: URL) -> None:
        self._url = url.set(drivername="postgresql+psycopg")
        self._address = url.render_as_string(hide_password=False)
        try:
            import psycopg
        except ModuleNotFoundError as error:
            raise EngineError('a catalogue on PostgreSQL needs psycopg: install "rehi[postgres]"') from error
        self.foreign: tuple[type[Exception], ...] = (psycopg.Error,)
        self._unanswered = (psycopg.OperationalError, psycopg.InterfaceError)

    def engine(self) -> Engine:
        """Return connections to the server, tried before they are used again."""
        given = {} if "connect_timeout" in self._url.query else {"connect_timeout": _CONNECT_TIMEOUT}
        return create_engine(self._url, connect_args=given, pool_pre_ping=True, max_overflow=-1)

    def where(self) -> str:
        """Return the server's address, without what is secret in it."""
        return hide_secrets(self._address)

    def error(self, cause: BaseException) -> UserError:
        """Return an error of PostgreSQL as one of ours, in one sentence."""
        original = cause.orig if isinstance(cause, DBAPIError) else cause
        if _state_of(original) == _DISK_FULL:
            return DiskFull(f"the disk is full: nothing more can be kept in the catalogue {self.where()}")
        lines = [line.strip() for line in str(original).splitlines() if line.strip()]
        reason = lines[0] if lines else type(original).__name__
        for secret in sorted(secrets_in(self._address), key=len, reverse=True):
            reason = reason.replace(secret, HIDDEN)
        kind = CatalogueAway if self._is_away(cause, original) else EngineError
        return kind(f"the catalogue {self.where()} can't be used: {reason}")

    def _is_away(self, cause: BaseException, original: BaseException | None) -> bool:
        """Whether the server may answer later. A connection that is refused or lost gives no SQLSTATE to tell it by."""
        state = _state_of(original)
        lost = isinstance(cause, DBAPIError) and cause.connection_invalidated
        return lost or state.startswith(_AWAY) or (not state and isinstance(original, self._unanswered))

    def may_retry(self, cause: BaseException) -> bool:
        """Whether it was a deadlock: the other transaction has gone on and is done."""
        return _state_of(cause.orig if isinstance(cause, DBAPIError) else cause) in _RETRIED

    def may_open_later(self, cause: BaseException) -> bool:
        """Whether nobody answers, or a server that is starting, stopping or full; no other answer gets better by waiting.

        A connection that was refused has no state. Its message is in the server's language: what is not understood is an error.
        """
        message = str(cause.orig if isinstance(cause, DBAPIError) else cause)
        if _UNKNOWN_HOST.search(message):
            return False
        return "FATAL" not in message or _PASSING.search(message) is not None

    def clock(self, connection: Connection) -> datetime:
        """Return the time by the server's clock."""
        moment: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        return moment.astimezone(UTC)

    def turn(self, *, urgent: bool) -> AbstractContextManager[None]:
        """Do not wait: many can write at once."""
        return nullcontext()

    def written(self, *, lasting: bool) -> None:
        """Do nothing: the server sees to its log by itself."""

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    def guard(self, connection: Connection, action: Guarded) -> None:
        """Take a lock of the server, until the transaction ends.

        Else two workers could lock two rows of one subject, and two halves of a circle could miss each other.
        """
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCKS[action]})

    def insert_resources(self, connection: Connection, rows: Sequence[NewResource]) -> int:
        """Enter the URLs that are new, and return how many were; many are copied to a temporary table first."""
        if len(rows) <= _FEW:
            columns = tuple(list(column) for column in zip(*rows, strict=True))
            return execute(connection, _ADD, columns) if rows else 0
        connection.exec_driver_sql(_INTAKE)
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(_COPY) as copy:
            for row in rows:
                copy.write_row(row)
        new = connection.execute(_INSERT).rowcount
        connection.exec_driver_sql("TRUNCATE intake")  # a batch of visits may come here twice in one transaction
        return new

    def insert_findings(
        self, connection: Connection, urls: NewUrls, *, source_id: int, at: int, since: int, claims: Mapping[str, str]
    ) -> tuple[int, Sequence[int]]:
        """Copy the URLs to a temporary table, enter the new ones from there, and look the resources of the rest up."""
        numbers = {"source_id": source_id, "at": at, "since": since}
        connection.exec_driver_sql(_INTAKE)
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(_COPY_FINDINGS) as copy:
            for row in zip(*urls, [claims.get(url, "") for url in urls.urls], strict=True):
                copy.write_row(row)
        new = connection.execute(_FIND_NEW, numbers).rowcount
        unnamed: Sequence[int] = ()
        if new < len(urls.urls):
            unnamed = [row.resource_id for row in connection.execute(_FIND_KNOWN, numbers) if row.entered]
        connection.exec_driver_sql("TRUNCATE intake")
        return new, unnamed

    def load_rows(
        self, connection: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Copy rows in, and let the sequence of ids go on after them."""
        names = ", ".join(f'"{column}"' for column in columns)
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(f'COPY "{table}" ({names}) FROM STDIN') as copy:
            for row in rows:
                copy.write_row(row)
        sequence = connection.execute(_SEQUENCE, {"table": table}).scalar() if "id" in columns else None
        if sequence is not None:
            last = f'SELECT setval(:sequence, greatest((SELECT max(id) FROM "{table}"), 1))'  # noqa: S608
            connection.execute(text(last), {"sequence": sequence})

    def due_tasks(self, connection: Connection, hosts: Sequence[int], *, now: int, limit: int) -> Sequence[Any]:
        """Return the due tasks of all hosts with one query."""
        return fetch_all(connection, _DUE, {"hosts": array_of(hosts, "bigint"), "now": now, "limit": limit})

    def url_in(self, urls: Sequence[str]) -> ColumnElement[bool]:
        """Return the condition that a resource's URL is one of these, by the index's expression."""
        return _INDEXED.in_([url[:HEAD] + tail_of(url) for url in urls])

    def url_key(self, url: str) -> str:
        """Return the head of a URL, and what tells it apart."""
        return url[:HEAD] + tail_of(url)

    def holds(self, haystack: ColumnElement[str], needle: str) -> ColumnElement[bool]:
        """Return the condition that a text contains the needle."""
        return func.strpos(haystack, needle) > 0


def _state_of(error: BaseException | None) -> str:
    return getattr(error, "sqlstate", None) or ""
