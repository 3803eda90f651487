"""A data folder that the released version has made, in the middle of its work, opens and goes on; nothing is lost.

``tests/released`` holds two such folders, one with a catalogue on SQLite and one with the dump of one on PostgreSQL. Both
were harvested twice from the small practice web, the second time until some of the graph's work was left. The second has no
graph. Here their sources are made to be in the middle of reading too, one of them a file that this machine does not have.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from rehi.app import House
from rehi.model.listing import DocumentFilter, Page
from rehi.model.source import SourceState
from rehi.operations.entities import split_entity
from rehi.operations.workers import describe_anew
from rehi.settings import Settings
from rehi.testing.postgres import PostgresServer, find_postgres
from rehi.testing.snapshot import is_read
from rehi.testing.world import WorldServer
from tests.conftest import settings_for

RELEASED = Path(__file__).parent / "released"
# What the tables of the released version say, as rows that can be asked of today's ports.
OLD = {
    "versions": """SELECT r.url, v.number, b.digest, v.taken_at FROM version v JOIN resource r ON r.id = v.resource_id
        JOIN blob b ON b.id = v.blob_id""",
    "documents": """SELECT r.url, d.title, d.language, d.media_type, d.names
        FROM document d JOIN resource r ON r.id = d.resource_id""",
    "mentions": """SELECT r.url, e.kind, e.slug, m.count FROM mention m JOIN resource r ON r.id = m.resource_id
        JOIN entity e ON e.id = m.entity_id JOIN document d ON d.resource_id = r.id""",
    "resources": "SELECT url, state, status FROM resource",
    "sources": "SELECT id, kind, name, position FROM source",
    "sources of resources": "SELECT url, source_id FROM resource WHERE source_id IS NOT NULL",
    "totals": "SELECT (SELECT count(*) FROM visit), (SELECT count(*) FROM host), (SELECT count(*) FROM problem)",
}

LOG, PAGES = 1, 2  # the sources of both folders
LATER = "http://nimed.rehemaa.test/ei-ole-veel"

Facts = dict[str, set[tuple[Any, ...]]]


def catch_reading(uri: str, pages: Path) -> Facts:
    """Let both sources be in the middle of their files, and return what the catalogue says then."""
    pages.write_text(f"http://nimed.rehemaa.test/et/4.html\n{LATER}\n", encoding="utf-8")
    engine = create_engine(uri.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        caught = "UPDATE source SET state = 'reading', position = 1"
        connection.execute(text(caught))
        connection.execute(text(f"{caught}, location = :path WHERE id = :id"), {"path": str(pages), "id": PAGES})
        facts = {name: {tuple(row) for row in connection.execute(text(query))} for name, query in OLD.items()}
    engine.dispose()
    return facts


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def released(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, practice_web: WorldServer
) -> Iterator[tuple[Settings, Facts]]:
    """The settings of an unpacked folder, and what its catalogue says before anybody has opened it."""
    folder = tmp_path_factory.mktemp(f"released-{request.param}")
    with tarfile.open(RELEASED / f"released-{request.param}.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    settings = settings_for(folder, practice_web)
    if request.param == "sqlite":
        yield settings, catch_reading(settings.catalogue_uri, folder / "pages.txt")
        return
    if find_postgres() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no PostgreSQL server here")
    with PostgresServer() as server:
        uri = server.uri("released")
        restore(uri, (folder / "catalogue.sql").read_text(encoding="utf-8"))
        yield settings.model_copy(update={"catalogue": uri}), catch_reading(uri, folder / "pages.txt")


def restore(uri: str, dump: str) -> None:
    """Run what pg_dump has written, without the lines that only psql understands."""
    import psycopg

    with psycopg.connect(uri) as connection:
        connection.execute("\n".join(line for line in dump.splitlines() if not line.startswith("\\")).encode())


def test_a_released_folder_opens_goes_on_and_has_lost_nothing(released: tuple[Settings, Facts]) -> None:
    settings, old = released
    with House(settings) as house:
        check_catalogue(house, old)
        check_bytes_and_texts(house, old)
        if not (settings.data / "graph").exists():  # the one with the dump comes without: it is made from the catalogue
            describe_anew(house)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
        totals = house.catalogue.totals(now=house.catalogue.clock())
        assert (totals.to_read, totals.to_describe) == (0, 0)
        check_graph(house)
        check_sources(house)
        check_entities(house)
    with House(settings) as again:
        check_bytes_and_texts(again, old)


def check_catalogue(house: House, old: Facts) -> None:
    catalogue = house.catalogue
    rows, _ = catalogue.documents(DocumentFilter(), Page(limit=1_000))
    assert {(row.url, row.state, row.status) for row in rows} == old["resources"]
    documents = {(row.url, row.title, row.language, row.media_type, row.names) for row in rows if is_read(house, row)}
    assert documents == old["documents"]
    mentions = {
        (row.url, name.key.kind, name.key.slug, name.count)
        for row in rows
        for name in catalogue.outline(row.resource_id).names
    }
    assert mentions == old["mentions"]
    versions = {
        (row.url, version.number, version.digest, round(version.taken_at.timestamp() * 1_000_000))
        for row in rows
        if row.versions
        for version in catalogue.versions(row.url)
    }
    assert versions == old["versions"]
    sources = catalogue.sources()
    assert {(source.id, source.kind, source.name, int(source.cursor)) for source in sources} == old["sources"]
    named = {
        (row.url, one.source_id)
        for row in rows
        for one in catalogue.claims_on([row.resource_id]).get(row.resource_id, ())
    }
    assert named == old["sources of resources"]
    totals = catalogue.totals(now=catalogue.clock())
    assert {(totals.visits, totals.hosts, totals.problems)} == old["totals"]


def check_sources(house: House) -> None:
    """What was being read went on where its file lies; the other is left to a worker that has it."""
    pages, log = house.catalogue.source(PAGES), house.catalogue.source(LOG)
    assert (pages.state, pages.cursor, pages.worker) == (SourceState.DONE, b"2", house.worker)
    assert house.catalogue.document(LATER).visited_at is not None
    assert (log.state, log.cursor, log.worker) == (SourceState.READING, b"1", "")


def check_entities(house: House) -> None:
    """Those of before are the first of their names, and there is room for others of these names, and for identifiers."""
    row = max(house.catalogue.find_entities("", Page(limit=1_000)), key=lambda row: row.documents)
    assert row.key.sense == 1
    page, *_ = house.catalogue.documents(DocumentFilter(entity=row.key), Page())[0]
    other = split_entity(house, entity=str(row.key), documents=(page.resource_id,))
    assert str(other.key) == f"{row.key}/2"
    assert house.catalogue.describe_entities([row.id])[0].documents == row.documents - other.documents
    assert (other.documents >= 1, other.identifiers) == (True, ())


def check_bytes_and_texts(house: House, old: Facts) -> None:
    for url, number, digest, _ in old["versions"]:
        version = next(one for one in house.catalogue.versions(url) if one.number == number)
        with house.archive.open_body(version.body) as body:
            assert f"sha256:{hashlib.sha256(body.read()).hexdigest()}" == digest
    for url, title, _, _, names in old["documents"]:
        reading = house.reading(house.catalogue.document(url).resource_id)
        assert (reading.document.title, len(reading.mentions)) == (title, names)


def check_graph(house: House) -> None:
    """Each version is told of once, and each mention."""
    rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=1_000))
    versions = sum(row.versions for row in rows)
    mentions = sum(len(house.catalogue.outline(row.resource_id).names) for row in rows)
    query = """SELECT (COUNT(DISTINCT ?v) AS ?versions) (COUNT(DISTINCT ?m) AS ?mentions) WHERE {
        { ?page dcterms:hasVersion ?v } UNION
        { ?who ner:mentionedAtSite ?where BIND(CONCAT(STR(?who), " ", STR(?where)) AS ?m) } }"""
    answer = house.query(query, media_type="text/csv")
    assert b"".join(answer.chunks).decode().split() == ["versions,mentions", f"{versions},{mentions}"]
