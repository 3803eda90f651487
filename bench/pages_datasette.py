"""The peer's file: the rows of a house as plain tables, with the indexes that equal work needs.

Datasette gets them as somebody would publish them: read-only, with counts taken before (``datasette inspect``), a full-text index
of three letters each for words in titles and addresses, and indexes for whatever it sorts and narrows down by. A document's
text stands in a table of its own, for a list shows none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from rehi.app import House

_TABLES = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, state TEXT NOT NULL, status INTEGER NOT NULL,
    title TEXT NOT NULL, media_type TEXT NOT NULL, language TEXT NOT NULL, versions INTEGER NOT NULL, names INTEGER NOT NULL,
    visited_at INTEGER, changed_at INTEGER, redirect_to TEXT);
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, title TEXT NOT NULL, media_type TEXT NOT NULL, language TEXT NOT NULL,
    versions INTEGER NOT NULL, visited_at INTEGER, names TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, number INTEGER NOT NULL, taken_at INTEGER NOT NULL, media_type TEXT NOT NULL,
    status INTEGER NOT NULL, digest TEXT NOT NULL, size INTEGER NOT NULL);
CREATE TABLE entities (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, slug TEXT NOT NULL, name TEXT NOT NULL, documents INTEGER NOT NULL);
"""
_ROWS = """
INSERT INTO documents SELECT r.id, r.url, h.name, r.state, r.status, coalesce(g.title, ''), coalesce(g.media_type, r.media_type),
        coalesce(g.language, ''), r.versions, coalesce(g.names, 0), r.visited_at, r.changed_at, NULL
    FROM house.resource r JOIN house.host h ON h.id = r.host_id
    LEFT JOIN house.document d ON d.resource_id = r.id LEFT JOIN house.reading g ON g.id = d.reading_id;
INSERT INTO versions SELECT v.id, r.url, v.number, v.taken_at, v.media_type, v.status, b.digest, b.size
    FROM house.version v JOIN house.resource r ON r.id = v.resource_id JOIN house.blob b ON b.id = v.blob_id;
INSERT INTO entities SELECT id, kind, slug, name, documents FROM house.entity WHERE documents > 0;
CREATE INDEX versions_url ON versions (url, taken_at);
CREATE INDEX entities_name ON entities (name COLLATE NOCASE);
CREATE INDEX entities_documents ON entities (documents);
CREATE VIRTUAL TABLE documents_fts USING fts5(title, url, content="documents", content_rowid='id', tokenize='trigram');
INSERT INTO documents_fts (documents_fts) VALUES ('rebuild');
"""
_PAGES = """INSERT INTO pages SELECT id, url, title, media_type, language, versions, visited_at, coalesce((
        SELECT group_concat(e.name || ' ' || m.count, ', ') FROM house.document d
        JOIN house.mention m ON m.reading_id = d.reading_id JOIN house.entity e ON e.id = m.entity_id
        WHERE d.resource_id = documents.id), ''), ?
    FROM documents WHERE id = ?"""
_BATCH = 1000


def write_peer(house: House, path: Path) -> int:
    """Write the rows of a house into a new file; how many documents it has."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("ATTACH ? AS house", (house.settings.catalogue_uri.removeprefix("sqlite:///"),))
        database.executescript(_TABLES + _ROWS)
        ids = [number for (number,) in database.execute("SELECT id FROM documents ORDER BY id")]
        texts = _texts(house, ids)
        while batch := list(islice(texts, _BATCH)):
            database.executemany(_PAGES, batch)
        database.commit()
        database.execute("DETACH house")
        database.execute("ANALYZE")
        database.commit()
        database.execute("VACUUM")
    return len(ids)


def _texts(house: House, ids: list[int]) -> Iterator[tuple[str, int]]:
    for number in ids:
        yield house.reading(number).document.text, number
