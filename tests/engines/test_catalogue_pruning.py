"""Bytes are dropped while others record versions that have them: no new version is ever without its bytes."""

from __future__ import annotations

import threading
from typing import Any

from sqlalchemy import Connection, func, select, text

from rehi.engines.sql import SqlCatalogue, open_catalogue
from rehi.engines.sql.migrations.step3 import _COUNTS, _POSTGRES, _SQLITE
from rehi.engines.sql.tables import blob, holding, version
from rehi.model.retention import PrunedBody
from rehi.model.version import Digest, RecordRef
from rehi.testing.contracts.catalogue_samples import at, digest_of, fetched, record

BODIES = [f"body {number}" for number in range(6)]
ROUNDS = 40


def _record(catalogue: SqlCatalogue, worker: int, faults: list[BaseException]) -> None:
    try:
        for turn in range(ROUNDS):
            place = RecordRef(f"{worker}.warc.gz", turn * 1000, 100)
            when = 1 + turn + worker / 10
            visits = [
                fetched(f"http://{worker}.ee/{number}", BODIES[(turn + number) % len(BODIES)], when, ref=place)
                for number in range(3)
            ]
            record(catalogue, visits, [], worker=f"w{worker}", now=at(when))
    except BaseException as fault:
        faults.append(fault)


def _drop(catalogue: SqlCatalogue, stop: threading.Event, dropped: dict[str, int], faults: list[BaseException]) -> None:
    try:
        turn = 0
        while not stop.is_set():
            turn += 1
            rows = catalogue.database.read(_counts)
            stones = [PrunedBody(digest=row.digest, size=6, rule="last 1", versions=row.n, places=()) for row in rows]
            place = RecordRef("dropped.warc.gz", turn, 1)
            gone = catalogue.mark_pruned(stones, at=at(10_000), record=place, worker="w")
            dropped.update((stone.digest, stone.versions) for stone in stones if stone.digest in gone)
    except BaseException as fault:
        faults.append(fault)


def _pruned(catalogue: SqlCatalogue) -> list[Digest]:
    bodies = catalogue.find_bodies(map(digest_of, BODIES))
    assert len(bodies) == len(BODIES)
    return [digest for digest, body in bodies.items() if body.pruned is not None]


def _counts(connection: Connection) -> list[Any]:
    query = select(blob.c.digest, func.count().label("n")).join(version, version.c.blob_id == blob.c.id)
    return list(connection.execute(query.group_by(blob.c.digest).order_by(blob.c.digest)))


def _held(connection: Connection) -> list[Any]:
    query = select(holding).where(holding.c.versions != 0).order_by(holding.c.host_id, holding.c.media_type)
    return [tuple(row) for row in connection.execute(query)]


def _counted_anew(connection: Connection) -> list[Any]:
    """The holdings as an upgrade counts them, without what is dropped."""
    kinds = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRES
    connection.execute(text("DELETE FROM holding"))
    for statement in _COUNTS:
        connection.execute(text(statement.format_map(kinds)))
    return _held(connection)


def test_a_version_that_is_recorded_while_its_bytes_are_dropped_has_them(catalogue_uri: str) -> None:
    catalogues = [open_catalogue(catalogue_uri) for _ in range(3)]
    faults: list[BaseException] = []
    dropped: dict[str, int] = {}  # how many versions there were then
    stop = threading.Event()
    dropper = threading.Thread(target=_drop, args=(catalogues[2], stop, dropped, faults))
    recorders = [
        threading.Thread(target=_record, args=(catalogue, number, faults))
        for number, catalogue in enumerate(catalogues[:2])
    ]
    for thread in (dropper, *recorders):
        thread.start()
    for thread in recorders:
        thread.join()
    stop.set()
    dropper.join()
    assert faults == []
    catalogue = catalogues[0]
    assert dropped
    counts = {row.digest: row.n for row in catalogue.database.read(_counts)}
    for digest in _pruned(catalogue):
        assert counts[digest] == dropped[digest], "a version came after its bytes were dropped"
    # A last version of each body comes after the last drop: its bytes must be there.
    for number, body in enumerate(BODIES):
        record(catalogue, [fetched(f"http://last.ee/{number}", body, 9_000)], [], worker="w0", now=at(9_000))
    assert _pruned(catalogue) == []
    held = catalogue.holdings(limit=9)
    assert (held.dropped_versions, held.dropped_bodies, held.dropped_bytes) == (0, 0, 0)
    assert held.bodies == len(BODIES)
    assert held.versions == sum(row.n for row in catalogue.database.read(_counts))
    before = catalogue.database.read(_held)
    assert catalogue.database.write(_counted_anew) == before
    for one in catalogues:
        one.close()
