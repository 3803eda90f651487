"""A worker that was killed is back: what it has visited is on record before anybody else can visit it again."""

from __future__ import annotations

import threading
from pathlib import Path

from rehi.app import House, utc_now
from rehi.engines.sql import open_catalogue
from rehi.model.source import Finding
from rehi.model.visit import HostLease, Outcome
from rehi.settings import load_settings
from tests.keeper import HTML, Keeper
from tests.plugins.installation import write_settings

VISITED = [f"http://127.0.0.1:9/visited/{number}" for number in range(60)]
OTHER = "http://127.0.0.1:9/other"


class KilledKeeper(Keeper):
    """Keeps visits in the archive, and is killed before they are on record."""

    def _record(self, url: str, at: object, outcome: Outcome, status: int, **said: object) -> None:
        self._archive.sync()

    def visit(self, url: str) -> None:
        at = utc_now()
        self._archive.keep(self._visit(url, f"<p>{url}</p>".encode(), at, (("Content-Type", HTML),), status=200))


def test_nobody_visits_again_what_only_the_archive_of_a_killed_worker_knows(tmp_path: Path) -> None:
    settings = load_settings(write_settings(tmp_path))
    with House(settings) as house:
        source = house.catalogue.add_source(
            kind="url-list", name="urls.txt", location="urls.txt", size=0, now=utc_now()
        )
        house.catalogue.take_in(
            source, [Finding(url) for url in (*VISITED, OTHER)], cursor=b"1", counts={}, now=utc_now()
        )
        (held,) = house.catalogue.lease(worker=house.worker, hosts=1, urls=99, ttl=600, now=utc_now())
        assert len(held.tasks) == len(VISITED) + 1
        keeper = KilledKeeper(house)
        for url in VISITED:
            keeper.visit(url)
        keeper.close()
    with House(settings) as house, house.working() as harvest:
        leases: list[HostLease] = []
        over = threading.Event()
        other = threading.Thread(target=_lease, args=(settings.catalogue_uri, leases, over))
        other.start()
        try:
            harvest.catch_up()
            assert all(house.catalogue.document(url).versions == 1 for url in VISITED)
        finally:
            over.set()
            other.join()
    assert [task.url for lease in leases for task in lease.tasks] == [OTHER]


def _lease(uri: str, leases: list[HostLease], over: threading.Event) -> None:
    """Be another worker, and take whatever can be had, until something was."""
    catalogue = open_catalogue(uri)
    while not leases:
        late = over.is_set()  # looked up before: then a last look is made after all is over
        leases += catalogue.lease(worker="two", hosts=1, urls=99, ttl=60, now=utc_now())
        if late:
            break
    catalogue.close()
