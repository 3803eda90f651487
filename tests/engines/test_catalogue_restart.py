"""A worker that starts again waits for what its killed process had sent off: a server ends that by itself."""

from __future__ import annotations

import threading
from itertools import count

import pytest
from sqlalchemy import Connection, text

from rehi.engines.sql import open_catalogue
from rehi.frontier import HouseLeaseRules
from rehi.testing.contracts.catalogue_samples import add, at, fetched, known_end, record
from rehi.testing.postgres import PostgresServer
from rehi.testing.waiting import PATIENCE, wait_until

_WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
_numbers = count()


@pytest.mark.parametrize("held", ["outbox", "host"])
def test_what_is_asked_after_giving_back_is_all_that_was_brought(
    postgres: PostgresServer, postgres_uri: str, held: str
) -> None:
    uri = postgres.schema_uri(postgres_uri, f"restart_{held}_{next(_numbers)}")
    killed, again, watcher = (open_catalogue(uri) for _ in range(3))
    add(killed, "http://a.ee/")
    assert killed.lease(worker="one", hosts=1, urls=1, ttl=600, now=at(1))
    record(killed, [fetched("http://b.ee/", "b", 1)], worker="one", now=at(1))
    assert killed.claim(("read",), worker="one", limit=9, ttl=600, now=at(2))
    (file,) = (known.name for known in killed.known_files())
    before = known_end(killed, file)
    locked, go_on = threading.Event(), threading.Event()

    def commit_late(connection: Connection) -> None:
        """Bring something, and commit when nobody is there to hear of it any more."""
        connection.execute(text(f"SELECT 1 FROM {held} WHERE worker = 'one' FOR UPDATE"))
        connection.execute(text("UPDATE file SET known_end = known_end + 1000"))
        locked.set()
        assert go_on.wait(PATIENCE)

    ends: list[int] = []

    def start_again() -> None:
        again.forget_leases(worker="one", rules=HouseLeaseRules(), now=at(3), keep_hosts=True)
        ends.append(known_end(again, file))

    threads = [
        threading.Thread(target=killed.database.write, args=(commit_late,)),
        threading.Thread(target=start_again),
    ]
    threads[0].start()
    assert locked.wait(PATIENCE)
    threads[1].start()
    with watcher.database.reading() as watching:
        wait_until(lambda: ends or watching.execute(_WAITING).scalar_one() > 0, what="whoever starts again waits")
    go_on.set()
    for thread in threads:
        thread.join()
    assert ends == [before + 1000]
    assert not again.lease(worker="two", hosts=9, urls=9, ttl=60, now=at(4)), "its hosts are kept"
    again.forget_leases(worker="one", rules=HouseLeaseRules(), now=at(5))
    assert again.lease(worker="two", hosts=9, urls=9, ttl=60, now=at(6))
    for catalogue in (killed, again, watcher):
        catalogue.close()
