"""Many processes and threads on one catalogue."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from rehi.engines.sql import open_catalogue
from rehi.model.listing import DocumentFilter, Page
from rehi.model.visit import HostLease, Outcome, Visited
from rehi.model.work import HostRelease
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    claim,
    fetched,
    findings,
    place,
    record,
    record_reads,
    redirected,
    understood,
)
from rehi.testing.waiting import PATIENCE

CROWD = multiprocessing.get_context("spawn")  # the fork server is the executor's, which starts it in its own way
PROCESSES, HOSTS, ROUNDS = 6, 40, 3
FAR = timedelta(days=1)
TTL = 3_600  # seconds: nobody may lose a lease because the machine is busy


def _visit_everything(uri: str, worker: str, log: Path, total: int, groups: int) -> None:
    """Lease, hold for a moment, release; write down when each host, or each pace group, was held."""
    catalogue = open_catalogue(uri)
    with log.open("w") as lines:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            leases = catalogue.lease(worker=worker, hosts=3, urls=1, ttl=TTL, now=datetime.now(UTC))
            for lease in leases:
                held = lease.host_id % groups if groups else lease.host_id
                lines.write(f"{held} {time.monotonic_ns()} ")
                time.sleep(0.002)
                lines.write(f"{time.monotonic_ns()}\n")
            if leases:
                _give_back(catalogue, leases, groups)
            elif catalogue.totals(now=datetime.now(UTC)).visits >= total:
                break
            else:
                time.sleep(0.01)
    catalogue.close()


def _give_back(catalogue: Catalogue, held: Sequence[HostLease], groups: int) -> None:
    now = datetime.now(UTC)
    visited = [
        Visited(url=task.url, at=now, outcome=Outcome.UNCHANGED, next_at=now + FAR, status=304)
        for lease in held
        for task in lease.tasks
    ]
    record(catalogue, visited, [_release(one, groups, now) for one in held], worker="one", now=now)


def _release(lease: HostLease, groups: int, now: datetime) -> HostRelease:
    group = f"group {lease.host_id % groups}" if groups else ""
    return HostRelease(host_id=lease.host_id, token=lease.token, ready_at=now, delay=0, pace_group=group)


@pytest.mark.parametrize("groups", [0, 5])
def test_no_host_and_no_pace_group_is_ever_leased_twice_at_once(
    catalogue_uri: str, tmp_path: Path, groups: int
) -> None:
    total = HOSTS * ROUNDS
    catalogue = open_catalogue(catalogue_uri)
    add(catalogue, *(f"http://h{host}.ee/{page}" for host in range(HOSTS) for page in range(ROUNDS)))
    if groups:
        every = catalogue.lease(worker="first", hosts=HOSTS, urls=1, ttl=TTL, now=at(0))
        record(catalogue, [], [_release(lease, groups, at(0)) for lease in every], worker="first", now=at(0))
    logs = [tmp_path / f"{number}.log" for number in range(PROCESSES)]
    crowd = [
        CROWD.Process(target=_visit_everything, args=(catalogue_uri, f"w{number}", log, total, groups))
        for number, log in enumerate(logs)
    ]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(2 * PATIENCE)
        assert process.exitcode == 0
    held: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for log in logs:
        for line in log.read_text().splitlines():
            host, start, end = map(int, line.split())
            held[host].append((start, end))
    assert sum(map(len, held.values())) == total
    for intervals in held.values():
        intervals.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(intervals))
    assert catalogue.totals(now=datetime.now(UTC)).outcomes == {"unchanged": total}
    catalogue.close()


def _lease_and_hang(uri: str, ready: Connection) -> None:
    catalogue = open_catalogue(uri)
    leases = catalogue.lease(worker="victim", hosts=1, urls=1, ttl=60, now=at(0))
    ready.send(len(leases))
    threading.Event().wait()


def test_the_lease_of_a_killed_process_goes_to_another_when_it_ends(catalogue_uri: str) -> None:
    catalogue = open_catalogue(catalogue_uri)
    add(catalogue, "http://a.ee/")
    here, there = CROWD.Pipe()
    victim = CROWD.Process(target=_lease_and_hang, args=(catalogue_uri, there))
    victim.start()
    assert here.poll(PATIENCE)
    assert here.recv() == 1
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    victim.join(PATIENCE)
    assert catalogue.lease(worker="heir", hosts=1, urls=1, ttl=60, now=at(59)) == []
    assert catalogue.next_ready() == at(60)
    assert len(catalogue.lease(worker="heir", hosts=1, urls=1, ttl=60, now=at(60))) == 1
    catalogue.close()


def test_threads_take_in_record_and_read_at_once(catalogue_uri: str) -> None:
    catalogue = open_catalogue(catalogue_uri)
    urls = [f"http://h{number % 7}.ee/{number}" for number in range(200)]
    sources = [
        catalogue.add_source(kind="url-list", name=name, location=f"/{name}", size=1, now=at(0)) for name in "ab"
    ]

    def take_in(turn: int) -> None:
        source = sources[turn]
        for start in range(0, 200, 20):
            batch = urls[start:] + urls[:start] if turn % 2 else urls[::-1]
            catalogue.take_in(source, findings(*batch), cursor=b"%d" % start, counts={"lines": 1}, now=at(0))

    def visit(turn: int) -> None:
        order = urls if turn % 2 else urls[::-1]
        for start in range(0, 200, 20):
            record(catalogue, [fetched(url, url, 1) for url in order[start : start + 20]], [], worker="", now=at(1))

    def read(turn: int) -> None:
        for _ in range(10):
            tasks = claim(catalogue, 1, worker=f"w{turn}")
            record_reads(catalogue, *(understood(task, place("Tartu"), place("Narva")) for task in tasks), when=2)

    with ThreadPoolExecutor(6) as threads:
        for done in [threads.submit(work, turn) for turn in range(2) for work in (take_in, visit, read)]:
            done.result(PATIENCE)
    while tasks := claim(catalogue, 999):
        record_reads(catalogue, *(understood(task, place("Tartu"), place("Narva")) for task in tasks), when=3)
    totals = catalogue.totals(now=at(3))
    assert (totals.resources, totals.visits, totals.versions, totals.documents) == (200, 200, 200, 200)
    assert (totals.hosts, totals.mentions, totals.to_read) == (7, 400, 0)
    for source in sources:
        counts = catalogue.source(source.id).counts
        assert [counts[what] for what in ("lines", "visited", "new", "documents", "names")] == [10, 200, 200, 200, 400]
    assert [row.documents for row in catalogue.find_entities("", Page())] == [200, 200]
    assert catalogue.documents(DocumentFilter(), Page())[1] == 200
    catalogue.close()


def test_a_circle_that_two_threads_close_at_once_is_seen(catalogue_uri: str) -> None:
    catalogue = open_catalogue(catalogue_uri)

    def half(there: str, back: str) -> None:
        for turn in range(15):
            record(catalogue, [redirected(f"{there}{turn}", f"{back}{turn}", turn)], [], worker="one", now=at(turn))

    ways = ("http://a.ee/", "http://b.ee/")
    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(half, *way) for way in (ways, ways[::-1])]:
            done.result(PATIENCE)
    assert catalogue.totals(now=at(99)).outcomes == {"failed": 30}
    catalogue.close()


def _open_only(uri: str) -> None:
    open_catalogue(uri).close()


def test_several_processes_may_make_the_catalogue_at_once(catalogue_uri: str) -> None:
    crowd = [CROWD.Process(target=_open_only, args=(catalogue_uri,)) for _ in range(4)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(PATIENCE)
        assert process.exitcode == 0
