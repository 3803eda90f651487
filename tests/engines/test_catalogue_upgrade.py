"""A catalogue of version 1 becomes one of today, and loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text

from rehi.engines.sql import open_catalogue
from rehi.engines.sql.catalogue import _dialect_of
from rehi.engines.sql.database import Database
from rehi.engines.sql.statements.values import key_of
from rehi.engines.sql.tables import metadata
from rehi.model.host import HostState
from rehi.model.listing import DocumentFilter, Page
from rehi.model.update import UpdateKind
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    bring,
    claim,
    claim_descriptions,
    digest_of,
    given_back,
    place,
    record,
    unchanged,
)
from rehi.testing.postgres import PostgresServer

KINDS = {
    "sqlite": {"id": "INTEGER", "serial": "INTEGER NOT NULL", "bytes": "BLOB", "float": "FLOAT", "bytewise": "TEXT",
               "outbox": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "norowid": "WITHOUT ROWID"},
    "postgresql": {"id": "BIGINT", "serial": "BIGSERIAL NOT NULL", "bytes": "BYTEA", "float": "FLOAT(53)",
                   "bytewise": 'TEXT COLLATE "C"', "outbox": "BIGSERIAL NOT NULL PRIMARY KEY", "norowid": ""},
}  # fmt: skip
URL_INDEX = {
    "sqlite": "CREATE UNIQUE INDEX resource_url ON resource (url)",
    "postgresql": "CREATE UNIQUE INDEX resource_url_head ON resource ((left(url, 600) || tail))",
}
VERSION_1 = """
CREATE TABLE meta (name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (name));
CREATE TABLE source (id {serial}, "key" {bytes} NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    location TEXT NOT NULL, size BIGINT DEFAULT '0' NOT NULL, added_at BIGINT DEFAULT '0' NOT NULL, state TEXT NOT NULL,
    position BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (id), UNIQUE ("key"));
CREATE TABLE tally (source_id {id} NOT NULL, what TEXT NOT NULL, slot SMALLINT NOT NULL, n {float} NOT NULL,
    PRIMARY KEY (source_id, what, slot));
CREATE TABLE host (id {serial}, "key" {bytes} NOT NULL, origin TEXT NOT NULL, name TEXT NOT NULL, ready_at BIGINT,
    not_before BIGINT DEFAULT '0' NOT NULL, token TEXT, worker TEXT, lease_until BIGINT DEFAULT '0' NOT NULL,
    leases BIGINT DEFAULT '0' NOT NULL, delay {float} DEFAULT '0' NOT NULL, failures BIGINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (id), UNIQUE ("key"));
CREATE INDEX host_leased ON host (lease_until) WHERE lease_until > 0;
CREATE INDEX host_ready ON host (ready_at);
CREATE TABLE robots (host_id {id} NOT NULL, status INTEGER NOT NULL, text TEXT NOT NULL, fetched_at BIGINT NOT NULL,
    PRIMARY KEY (host_id), FOREIGN KEY(host_id) REFERENCES host (id));
CREATE TABLE file (id {serial}, "key" {bytes} NOT NULL, name TEXT NOT NULL, known_end BIGINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (id), UNIQUE ("key"));
CREATE TABLE blob (id {serial}, digest TEXT NOT NULL, size BIGINT DEFAULT '0' NOT NULL, file_id {id} NOT NULL,
    "offset" BIGINT DEFAULT '0' NOT NULL, length BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (id), UNIQUE (digest),
    FOREIGN KEY(file_id) REFERENCES file (id));
CREATE TABLE resource (id {serial}, url {bytewise} NOT NULL, tail {bytewise} DEFAULT '' NOT NULL, host_id {id} NOT NULL,
    source_id {id}, state TEXT DEFAULT 'waiting' NOT NULL, due_at BIGINT, status BIGINT DEFAULT '0' NOT NULL,
    failures BIGINT DEFAULT '0' NOT NULL, hops BIGINT DEFAULT '0' NOT NULL, versions BIGINT DEFAULT '0' NOT NULL,
    read_number BIGINT DEFAULT '0' NOT NULL, statements BIGINT DEFAULT '0' NOT NULL, blob_id {id}, redirect_to {id},
    visited_at BIGINT, changed_at BIGINT, media_type TEXT DEFAULT '' NOT NULL, etag TEXT DEFAULT '' NOT NULL,
    last_modified TEXT DEFAULT '' NOT NULL, PRIMARY KEY (id), FOREIGN KEY(blob_id) REFERENCES blob (id),
    FOREIGN KEY(redirect_to) REFERENCES resource (id));
CREATE INDEX resource_again ON resource (due_at) WHERE state <> 'waiting';
CREATE INDEX resource_due ON resource (host_id, due_at);
CREATE INDEX resource_redirect ON resource (redirect_to) WHERE redirect_to IS NOT NULL;
CREATE TABLE visit (resource_id {id} NOT NULL, at BIGINT NOT NULL, outcome TEXT NOT NULL,
    status BIGINT DEFAULT '0' NOT NULL, seconds {float} DEFAULT '0' NOT NULL, size BIGINT DEFAULT '0' NOT NULL,
    file_id {id}, "offset" BIGINT, length BIGINT, PRIMARY KEY (resource_id, at),
    FOREIGN KEY(resource_id) REFERENCES resource (id), FOREIGN KEY(file_id) REFERENCES file (id)) {norowid};
CREATE TABLE version (id {serial}, resource_id {id} NOT NULL, number INTEGER NOT NULL, taken_at BIGINT NOT NULL,
    blob_id {id} NOT NULL, media_type TEXT DEFAULT '' NOT NULL, status BIGINT DEFAULT '0' NOT NULL,
    file_id {id} NOT NULL, "offset" BIGINT DEFAULT '0' NOT NULL, length BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(resource_id) REFERENCES resource (id), FOREIGN KEY(blob_id) REFERENCES blob (id),
    FOREIGN KEY(file_id) REFERENCES file (id));
CREATE UNIQUE INDEX version_number ON version (resource_id, number);
CREATE TABLE document (resource_id {id} NOT NULL, version_id {id} NOT NULL, media_type TEXT DEFAULT '' NOT NULL,
    title TEXT DEFAULT '' NOT NULL, searched TEXT DEFAULT '' NOT NULL, language TEXT DEFAULT '' NOT NULL,
    characters BIGINT DEFAULT '0' NOT NULL, names BIGINT DEFAULT '0' NOT NULL, file_id {id}, "offset" BIGINT,
    length BIGINT, PRIMARY KEY (resource_id), FOREIGN KEY(resource_id) REFERENCES resource (id),
    FOREIGN KEY(version_id) REFERENCES version (id), FOREIGN KEY(file_id) REFERENCES file (id));
CREATE TABLE entity (id {serial}, "key" {bytes} NOT NULL, kind TEXT NOT NULL, slug TEXT NOT NULL,
    name TEXT DEFAULT '' NOT NULL, given TEXT DEFAULT '' NOT NULL, family TEXT DEFAULT '' NOT NULL,
    documents BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (id), UNIQUE ("key"));
CREATE INDEX entity_documents ON entity (documents);
CREATE TABLE form (id {serial}, "key" {bytes} NOT NULL, entity_id {id} NOT NULL, what TEXT NOT NULL, text TEXT NOT NULL,
    given TEXT DEFAULT '' NOT NULL, family TEXT DEFAULT '' NOT NULL, folded {bytewise} NOT NULL,
    documents BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (id), UNIQUE ("key"),
    FOREIGN KEY(entity_id) REFERENCES entity (id));
CREATE INDEX form_entity ON form (entity_id);
CREATE INDEX form_folded ON form (folded);
CREATE TABLE mention (resource_id {id} NOT NULL, entity_id {id} NOT NULL, count BIGINT DEFAULT '0' NOT NULL,
    forms TEXT NOT NULL, PRIMARY KEY (resource_id, entity_id), FOREIGN KEY(resource_id) REFERENCES resource (id),
    FOREIGN KEY(entity_id) REFERENCES entity (id)) {norowid};
CREATE INDEX mention_entity ON mention (entity_id, resource_id);
CREATE TABLE problem (id {serial}, "key" {bytes} NOT NULL, stage TEXT NOT NULL, code TEXT NOT NULL,
    subject TEXT NOT NULL, message TEXT DEFAULT '' NOT NULL, next_step TEXT DEFAULT '' NOT NULL,
    advice TEXT DEFAULT '' NOT NULL, count BIGINT DEFAULT '0' NOT NULL, first_at BIGINT DEFAULT '0' NOT NULL,
    last_at BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (id), UNIQUE ("key"));
CREATE INDEX problem_last ON problem (last_at, id);
CREATE INDEX problem_stage ON problem (stage, last_at, id);
CREATE TABLE outbox (id {outbox}, topic TEXT NOT NULL, subject {id} NOT NULL, version_id {id},
    attempts BIGINT DEFAULT '0' NOT NULL, worker TEXT, claimed_until BIGINT DEFAULT '0' NOT NULL,
    FOREIGN KEY(version_id) REFERENCES version (id));
CREATE INDEX outbox_subject ON outbox (topic, subject);
CREATE INDEX outbox_topic ON outbox (topic, id);
CREATE INDEX outbox_worker ON outbox (worker) WHERE worker IS NOT NULL
"""
OUTBOX = "outbox"  # its columns are others today
POSITION = "position"  # of a source, which has a cursor today
URL, BROKEN = "http://a.ee/", "http://a.ee/broken"
SECOND = 1_000_000
START = int(at(0).timestamp()) * SECOND + 123_456  # at(0) in microseconds
ROWS: list[tuple[str, dict[str, Any]]] = [
    ("meta", {"name": "schema", "value": "1"}),
    ("source", {"key": key_of("/list", "list"), "kind": "url-list", "name": "list", "location": "/list", "size": 9,
                "added_at": START, "state": "done", "position": 2}),
    ("tally", {"source_id": 1, "what": "visited", "slot": 0, "n": 3.0}),
    ("tally", {"source_id": 0, "what": "state:new", "slot": 0, "n": 1.0}),
    ("tally", {"source_id": 0, "what": "state:failed", "slot": 0, "n": 1.0}),
    ("host", {"key": key_of("http://a.ee"), "origin": "http://a.ee", "name": "a.ee", "ready_at": START + 9 * SECOND,
              "not_before": START, "leases": 3, "delay": 1.5, "failures": 2}),
    ("robots", {"host_id": 1, "status": 200, "text": "User-agent: *", "fetched_at": START}),
    ("file", {"key": key_of("a.warc.gz"), "name": "a.warc.gz", "known_end": 100}),
    ("blob", {"digest": digest_of("one"), "size": 3, "file_id": 1, "offset": 0, "length": 100}),
    ("resource", {"url": URL, "host_id": 1, "source_id": 1, "state": "new", "due_at": START + 9 * SECOND, "status": 200,
                  "versions": 1, "blob_id": 1, "visited_at": START, "changed_at": START, "media_type": "text/html",
                  "etag": '"one"', "last_modified": "yesterday"}),
    ("resource", {"url": BROKEN, "host_id": 1, "source_id": 1, "state": "failed", "due_at": START + 9 * SECOND,
                  "status": 503, "failures": 2, "visited_at": START + SECOND}),
    ("visit", {"resource_id": 1, "at": START, "outcome": "new", "status": 200, "seconds": 0.5, "size": 3, "file_id": 1,
               "offset": 0, "length": 100}),
    ("version", {"resource_id": 1, "number": 1, "taken_at": START, "blob_id": 1, "media_type": "text/html",
                 "status": 200, "file_id": 1, "offset": 0, "length": 100}),
    (OUTBOX, {"topic": "read", "subject": 1, "version_id": 1}),
]  # fmt: skip


def _fill(connection: Connection) -> None:
    name = connection.dialect.name
    for statement in VERSION_1.format_map(KINDS[name]).split(";"):
        connection.execute(text(statement))
    connection.execute(text(URL_INDEX[name]))
    for table, row in ROWS:
        columns = ", ".join(f'"{column}"' for column in row)
        values = ", ".join(f":{column}" for column in row)
        connection.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), row)


def _older(uri: str) -> Database:
    database = Database(_dialect_of(uri))
    database.write(_fill)
    return database


def _contents(connection: Connection) -> dict[str, list[Any]]:
    """The rows of version 1, without what came later."""
    rows: dict[str, list[Any]] = {}
    for table, row in ROWS[1:]:
        if table == OUTBOX:
            continue
        columns = ", ".join(f'"{column}"' for column in row if column != POSITION)
        rows[f"{table} {columns}"] = list(map(tuple, connection.execute(text(f"SELECT {columns} FROM {table}"))))
    return rows


def _shape(connection: Connection) -> dict[str, tuple[list[Any], list[Any]]]:
    """Each table's columns and indexes."""
    seen = inspect(connection)
    return {
        table: (
            sorted((c["name"], str(c["type"]), c["nullable"], c["default"]) for c in seen.get_columns(table)),
            sorted((i["name"], str(i["column_names"]), bool(i["unique"])) for i in seen.get_indexes(table)),
        )
        for table in metadata.tables
    }


def test_nothing_is_lost_when_a_catalogue_of_version_1_is_opened(catalogue_uri: str) -> None:
    older = _older(catalogue_uri)
    before = older.read(_contents)
    older.close()
    catalogue = open_catalogue(catalogue_uri)
    assert catalogue.database.read(_contents) == before
    (source,) = catalogue.sources()
    assert (source.cursor, source.policy, source.weight, source.counts["visited"]) == (b"2", "", 1.0, 3)
    assert [row.url for row in catalogue.documents(DocumentFilter(source_id=source.id), Page())[0]] == [URL, BROKEN]
    (facts,) = catalogue.host("a.ee", now=at(9))
    assert (facts.row.state, facts.row.delay, facts.row.failures) == (HostState.READY, 1.5, 2)
    assert (facts.row.strain, facts.due, facts.robots_text, len(facts.visits)) == (1.0, 2, "User-agent: *", 1)
    assert [row.url for row in catalogue.documents(DocumentFilter(), Page())[0]] == [URL, BROKEN]
    catalogue.close()


def test_what_an_older_catalogue_holds_is_counted(catalogue_uri: str) -> None:
    older = _older(catalogue_uri)
    more = [
        {
            "resource_id": 1,
            "number": 2,
            "taken_at": START + 1,
            "blob_id": 2,
            "media_type": "Image/PNG ;x=1",
            "offset": 100,
        },
        {"resource_id": 2, "number": 1, "taken_at": START + 2, "blob_id": 1, "media_type": "text/html", "offset": 300},
    ]
    blob = {"digest": digest_of("other"), "size": 7, "file_id": 1, "offset": 100, "length": 200}

    def fill(connection: Connection) -> None:
        for table, row in (("blob", blob), *(("version", {"file_id": 1, "length": 50, **row}) for row in more)):
            names = ", ".join(f'"{name}"' for name in row)
            values = ", ".join(f":{name}" for name in row)
            connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), row)

    older.write(fill)
    older.close()
    catalogue = open_catalogue(catalogue_uri)
    held = catalogue.holdings(limit=9)
    assert (held.versions, held.bodies, held.logical, held.distinct, held.stored) == (3, 2, 13, 10, 200)
    assert {row.name: (row.versions, row.distinct) for row in held.by_type} == {
        "text/html": (2, 3),
        "image/png": (1, 7),
    }
    assert [version.dropped for version in catalogue.versions(URL)] == [False, False]
    assert catalogue.sources()[0].keep == ""
    catalogue.close()


def test_what_resources_came_to_is_counted_for_all_their_sources(catalogue_uri: str) -> None:
    catalogue = open_catalogue(catalogue_uri)
    sources = [add(catalogue, URL, name=name) for name in ("one", "two")]
    row = bring(catalogue, URL, "one", place("Tartu"), when=1)
    catalogue.record_descriptions(claim_descriptions(catalogue, 2).claims, statements={row: 7})

    def make_older(connection: Connection) -> None:
        later = {"later": sources[1].id}
        connection.execute(text("DELETE FROM tally WHERE source_id = :later"), later)
        connection.execute(text("INSERT INTO tally VALUES (:later, 'lines', 0, 1)"), later)
        for step in ("DROP INDEX entity_sense", "ALTER TABLE entity DROP COLUMN sense", "DROP TABLE identifier"):
            connection.execute(text(step))  # which version 8 has brought
        connection.execute(text("UPDATE meta SET value = '6' WHERE name = 'schema'"))

    catalogue.database.write(make_older)
    catalogue.close()
    catalogue = open_catalogue(catalogue_uri)
    first, later = (catalogue.source(source.id).counts for source in sources)
    assert later == {what: n for what, n in first.items() if what not in ("seconds:extract", "seconds:enrich")}
    assert (later["visited"], later["documents"], later["statements"]) == (1, 1, 7)
    catalogue.close()


def test_a_catalogue_of_version_1_goes_on_working(catalogue_uri: str) -> None:
    _older(catalogue_uri).close()
    catalogue = open_catalogue(catalogue_uri)
    assert [task.url for task in claim(catalogue, 1, worker="anybody")] == [URL]
    (lease,) = catalogue.lease(worker="w", hosts=9, urls=9, ttl=60, now=at(9))
    page, broken = lease.tasks
    assert (page.digest, page.failing_since, page.history) == (digest_of("one"), None, b"")
    assert (broken.failures, broken.failing_since) == (2, at(1))
    update = catalogue.begin_update(UpdateKind.HARVEST, worker="w", due=2, now=at(9))
    record(catalogue, [unchanged(URL, 9)], [given_back(lease, 10)], worker="w", update_id=update.id, now=at(9))
    assert catalogue.updates(Page())[0][0].counts["unchanged"] == 1
    catalogue.close()


def test_an_upgraded_catalogue_is_made_like_a_new_one(
    catalogue_uri: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    _older(catalogue_uri).close()
    upgraded = open_catalogue(catalogue_uri)
    if upgraded.database.dialect.slots == 1:
        fresh = open_catalogue(f"sqlite:///{tmp_path}/fresh.db")
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        fresh = open_catalogue(server.schema_uri(request.getfixturevalue("postgres_uri"), "fresh"))
    assert upgraded.database.read(_shape) == fresh.database.read(_shape)
    upgraded.close()
    fresh.close()
