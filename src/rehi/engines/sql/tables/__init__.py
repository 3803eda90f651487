"""The schema: the tables of the catalogue, the same on every database.

Moments are microseconds since 1970. Text of any length is made unique by a 16-byte ``key`` beside it, because PostgreSQL
refuses long index entries.
"""

from __future__ import annotations

from rehi.engines.sql.tables.columns import metadata
from rehi.engines.sql.tables.files import blob, file
from rehi.engines.sql.tables.hosts import host, orders, pace_group, probe, robots
from rehi.engines.sql.tables.knowledge import (
    document,
    entity,
    facet,
    form,
    identifier,
    mention,
    part,
    reading,
    table_shape,
    term,
)
from rehi.engines.sql.tables.resources import holding, resource, version, visit
from rehi.engines.sql.tables.sources import finding, meta, source, tally
from rehi.engines.sql.tables.updates import update_round, update_share
from rehi.engines.sql.tables.work import outbox, ownership, problem, worker

__all__ = [
    "blob",
    "document",
    "entity",
    "facet",
    "file",
    "finding",
    "form",
    "holding",
    "host",
    "identifier",
    "mention",
    "meta",
    "metadata",
    "orders",
    "outbox",
    "ownership",
    "pace_group",
    "part",
    "probe",
    "problem",
    "reading",
    "resource",
    "robots",
    "source",
    "table_shape",
    "tally",
    "term",
    "update_round",
    "update_share",
    "version",
    "visit",
    "worker",
]  # fmt: skip
