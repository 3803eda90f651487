"""The step from version 1 to version 2: histories, orders, pace groups, updates, and what is gone."""

from __future__ import annotations

from sqlalchemy import Connection

_COLUMNS = """
    source policy TEXT DEFAULT '' NOT NULL
    source weight {float} DEFAULT '1' NOT NULL
    host strain {float} DEFAULT '1' NOT NULL
    host address TEXT DEFAULT '' NOT NULL
    host pace_group TEXT DEFAULT '' NOT NULL
    host why TEXT DEFAULT '' NOT NULL
    host left_alone BIGINT DEFAULT '0' NOT NULL
    host history {bytes}
    file owner TEXT DEFAULT '' NOT NULL
    resource failing_since BIGINT
    resource gone_at BIGINT
    resource remarked BIGINT DEFAULT '0' NOT NULL
    resource promised {float} DEFAULT '0' NOT NULL
    resource history {bytes}
    outbox owner TEXT DEFAULT '' NOT NULL
"""
_TABLES = (
    """CREATE TABLE probe (host_id {id} NOT NULL PRIMARY KEY REFERENCES host (id), status BIGINT DEFAULT '0' NOT NULL,
        likeness {bytes} NOT NULL, at BIGINT DEFAULT '0' NOT NULL)""",
    """CREATE TABLE orders (host_id {id} NOT NULL PRIMARY KEY REFERENCES host (id), delay {float}, connections BIGINT,
        hours TEXT DEFAULT '' NOT NULL, left_alone BIGINT DEFAULT '0' NOT NULL, why TEXT DEFAULT '' NOT NULL,
        changed_at BIGINT DEFAULT '0' NOT NULL)""",
    """CREATE TABLE pace_group (name TEXT NOT NULL PRIMARY KEY, token TEXT, lease_until BIGINT DEFAULT '0' NOT NULL,
        not_before BIGINT DEFAULT '0' NOT NULL)""",
    """CREATE TABLE update_round (id {serial} PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, worker TEXT NOT NULL,
        started_at BIGINT DEFAULT '0' NOT NULL, ended_at BIGINT, due BIGINT DEFAULT '0' NOT NULL)""",
    """CREATE TABLE update_share (update_id {id} NOT NULL REFERENCES update_round (id), worker TEXT NOT NULL,
        what TEXT NOT NULL, n {float} DEFAULT '0' NOT NULL, PRIMARY KEY (update_id, worker, what))""",
)
_INDEXES = (
    "CREATE INDEX host_group ON host (pace_group) WHERE pace_group <> ''",
    "CREATE INDEX orders_changed ON orders (changed_at)",
    "CREATE INDEX update_running ON update_round (id) WHERE state = 'running'",
    "CREATE INDEX outbox_read ON outbox (owner, id) WHERE topic = 'read'",
)
# When a failing page first failed was not kept; its last visit is the earliest moment that is certain.
_FAILING = "UPDATE resource SET failing_since = visited_at WHERE failures > 0"

_SQLITE = {"id": "INTEGER", "serial": "INTEGER NOT NULL", "bytes": "BLOB", "float": "FLOAT"}
_POSTGRES = {"id": "BIGINT", "serial": "BIGSERIAL NOT NULL", "bytes": "BYTEA", "float": "FLOAT(53)"}


def visits(connection: Connection) -> None:
    """Add the columns and tables; what is there stays as it is."""
    kinds = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRES
    for line in _COLUMNS.format_map(kinds).strip().splitlines():
        table, column = line.split(maxsplit=1)
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column}")
    for statement in (*_TABLES, *_INDEXES):
        connection.exec_driver_sql(statement.format_map(kinds))
    connection.exec_driver_sql(_FAILING)
