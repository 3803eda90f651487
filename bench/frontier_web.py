"""The web of the frontier benchmark: made-up URLs on hosts of which a few are large and most are small."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random
from time import perf_counter

from sqlalchemy import Connection

CLUMP = 100  # URLs of one host that follow each other, as in a log
BATCH = 20_000
_ZEROS = "0" * 64
_DIGEST = f"'sha256:' || substr('{_ZEROS}' || resource.id, length('{_ZEROS}' || resource.id) - 63)"
# Of one URL in five.
_VERSIONS = (
    "INSERT INTO file (\"key\", name, known_end) VALUES ('of-old', 'of-old.warc.gz', 2000)",
    f"""INSERT INTO blob (digest, size, file_id, "offset", length)
        SELECT {_DIGEST}, 20000, file.id, 0, 2000 FROM resource, file WHERE resource.id / 5 * 5 = resource.id""",  # noqa: S608
    f"""UPDATE resource SET versions = 1, media_type = 'text/html', etag = '"5e1f-0"',
        blob_id = (SELECT blob.id FROM blob WHERE blob.digest = {_DIGEST}) WHERE id / 5 * 5 = id""",  # noqa: S608
    """INSERT INTO version (resource_id, number, taken_at, blob_id, status, file_id, "offset", length)
        SELECT resource.id, 1, 0, blob_id, 200, file.id, 0, 2000 FROM resource, file WHERE blob_id IS NOT NULL""",
)
_SECTIONS = ("uudised", "arhiiv", "avaandmed", "otsused", "protokollid", "ajalugu")


def sizes(urls: int, hosts: int) -> list[int]:
    """URLs of each host after Zipf's law, the largest first, at least one, as many as asked for together."""
    share = (urls - hosts) / sum(1 / rank for rank in range(1, hosts + 1))
    counts = [1 + int(share / rank) for rank in range(1, hosts + 1)]
    counts[0] += urls - sum(counts)
    return counts


def origin(host: int) -> str:
    """A host by its number."""
    return f"https://www.asutus{host}.ee"


def urls_of(urls: int, hosts: int) -> Iterator[str]:
    """All URLs, those of a host in clumps, the clumps in an order that is the same each time."""
    clumps = [
        (host, start, min(start + CLUMP, size))
        for host, size in enumerate(sizes(urls, hosts))
        for start in range(0, size, CLUMP)
    ]
    Random(11).shuffle(clumps)  # noqa: S311 - not for secrets
    for host, start, end in clumps:
        for page in range(start, end):
            yield f"{origin(host)}/{_SECTIONS[page % 6]}/2014/leht-{page}.html"


def fill(uri: str, *, urls: int, hosts: int) -> float:
    """Take the web into a catalogue, all of it due for some time; the seconds that it took."""
    from rehi.engines.sql import open_catalogue
    from rehi.model.source import Finding

    began, due = perf_counter(), datetime.now(UTC) - timedelta(days=1)
    catalogue = open_catalogue(uri)
    try:
        source = catalogue.add_source(kind="url-list", name="web", location="web", size=0, now=due)
        stream = urls_of(urls, hosts)
        position = 0
        while batch := list(islice(stream, BATCH)):
            position += len(batch)
            due += timedelta(seconds=1)
            findings = [Finding(url) for url in batch]
            catalogue.take_in(source, findings, cursor=b"%d" % position, counts={"accepted": len(batch)}, now=due)
        seconds = perf_counter() - began
        catalogue.database.write(_give_versions)
    finally:
        catalogue.close()
    if not uri.startswith("sqlite"):
        _tidy(uri)
    return seconds


def _give_versions(connection: Connection) -> None:
    for statement in _VERSIONS:
        connection.exec_driver_sql(statement)


def _tidy(uri: str) -> None:
    """What the server would do by itself some time later, while the workers are measured."""
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
