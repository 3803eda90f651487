"""The tables of hosts: who may visit them and when, what they ask of us, and what is ordered for them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, LargeBinary, Table, Text, text

from rehi.engines.sql.tables.columns import ID, integer, metadata, real, string

host = Table(
    "host",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("origin", Text, nullable=False),
    Column("name", Text, nullable=False),  # the origin without its scheme
    Column("ready_at", BigInteger),  # NULL: nothing is due, ever, or it is left alone
    integer("not_before"),  # politeness, whatever is due
    Column("token", Text),
    Column("worker", Text),
    integer("lease_until"),  # 0: not leased
    integer("leases"),
    real("delay"),
    integer("failures"),
    real("strain", "1"),
    string("address"),
    string("pace_group"),
    string("why"),  # it may not be visited before ``not_before``
    integer("left_alone"),  # from ``orders``, where whoever wakes a host sees it
    Column("history", LargeBinary),
)
Index("host_ready", host.c.ready_at)
Index(
    "host_leased",
    host.c.lease_until,
    sqlite_where=text("lease_until > 0"),
    postgresql_where=text("lease_until > 0"),
)
Index(
    "host_group",
    host.c.pace_group,
    sqlite_where=text("pace_group <> ''"),
    postgresql_where=text("pace_group <> ''"),
)

# Apart from the host, whose row is rewritten at each lease.
robots = Table(
    "robots",
    metadata,
    Column("host_id", ID, ForeignKey("host.id"), primary_key=True, autoincrement=False),
    Column("status", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("fetched_at", BigInteger, nullable=False),
    Column("failing_since", BigInteger),  # it can't be had
)

probe = Table(
    "probe",
    metadata,
    Column("host_id", ID, ForeignKey("host.id"), primary_key=True, autoincrement=False),
    integer("status"),
    Column("likeness", LargeBinary, nullable=False),
    integer("at"),
)

# A row stays when its orders are taken back: whoever asks what has changed must hear of that too.
orders = Table(
    "orders",
    metadata,
    Column("host_id", ID, ForeignKey("host.id"), primary_key=True, autoincrement=False),
    Column("delay", Float(53)),
    Column("connections", BigInteger),
    string("hours"),
    integer("left_alone"),
    string("why"),
    integer("changed_at"),
)
Index("orders_changed", orders.c.changed_at)

# Hosts that share one pace: one of them at a time, and not before politeness to the last one allows.
pace_group = Table(
    "pace_group",
    metadata,
    Column("name", Text, primary_key=True),
    Column("token", Text),  # of the lease that holds it
    integer("lease_until"),  # 0: not held
    integer("not_before"),
)

# For a row of ``host``: no other host of its group, nor politeness to one, stands in its way.
GROUP_IS_FREE = """(host.pace_group = '' OR NOT EXISTS (
    SELECT 1 FROM pace_group g WHERE g.name = host.pace_group AND (g.lease_until > :now OR g.not_before > :now)))"""
