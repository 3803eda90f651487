"""Several workers on one catalogue keep every host's pace between them, as the hosts see it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import orjson

from rehi.app import House, utc_now
from rehi.cli.practice import fetch_settings
from rehi.model.listing import Page
from rehi.model.update import UpdateState
from rehi.operations.hosts import order_host, report_hosts
from rehi.operations.sources import enter, read_in
from rehi.settings import Settings, load_settings
from rehi.testing.postgres import PostgresServer
from rehi.testing.waiting import PATIENCE, wait_until
from rehi.testing.world import World, WorldServer

DELAY = 0.15
LATENCY = 0.03
HOSTS = 4
PAGES = 41  # more than two leases for each host, so that hosts wander from worker to worker
WORKERS = 4  # two machines with two processes each
PATIENT = {"timeout": PATIENCE, "connect_timeout": PATIENCE, "stall_timeout": PATIENCE}


def settings_of(folder: Path, server: WorldServer, catalogue: str, **fetch: object) -> Settings:
    return load_settings(
        data=folder,
        catalogue=catalogue,
        fetch=fetch_settings(server.resolve_rules) | {"delay": DELAY, "slow_factor": 0.0} | PATIENT | fetch,
        work={"workers": 1, "enrich": False},
    )


def start(folder: Path, settings: Settings) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "REHI_DATA": str(settings.data),
        "REHI_CATALOGUE": settings.catalogue,
        "REHI_FETCH": orjson.dumps(settings.fetch.model_dump()).decode(),
        "REHI_WORK": orjson.dumps(settings.work.model_dump()).decode(),
    }
    with (folder / "stderr").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "rehi", "harvest", "--json"], env=environment, stdout=subprocess.DEVNULL, stderr=log
        )


def busy_hosts(world: World) -> list[str]:
    by_host: Counter[str] = Counter(document.url.split("/")[2] for document in world.documents)
    return [host for host, _ in by_host.most_common(HOSTS)]


def holder(settings: Settings, host: str) -> Path:
    """The folder of the worker that holds a host now."""
    with House(settings) as house:

        def held() -> Path | None:
            (facts,) = house.catalogue.host(host, now=utc_now())
            names = settings.data.parent.parent.glob("*/data/worker")
            return next((name.parent.parent for name in names if name.read_text() == facts.worker), None)

        folder = wait_until(held, what=f"somebody holds {host}", pause=0.01)
    assert folder is not None
    return folder


def check_pace(server: WorldServer, hosts: list[str], delay: float) -> None:
    for host in hosts:
        times = [seen.at for seen in server.requests if seen.host == host]
        gaps = [round(later - sooner, 3) for sooner, later in pairwise(times)]
        assert server.at_once[host] == 1, f"{host} was asked twice at once, after {gaps}"
        assert min(later - sooner for sooner, later in pairwise(times)) >= delay, f"{host} was asked too soon: {gaps}"


def test_workers_on_one_postgres_keep_every_hosts_pace_even_when_one_is_killed(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    world = World(seed=1, small=True)
    with WorldServer(world, latency=LATENCY) as server:
        hosts = busy_hosts(world)
        urls = [f"http://{host}/leht/{number}" for host in hosts for number in range(PAGES)]
        source = tmp_path / "pages.txt"
        source.write_text("\n".join(urls), encoding="utf-8")
        catalogue = postgres.uri("pace")
        folders = [tmp_path / f"worker{number}" for number in range(WORKERS)]
        for folder in folders:
            folder.mkdir()
        settings = [settings_of(folder / "data", server, catalogue) for folder in folders]
        with House(settings[0]) as house:
            read_in(house, enter(house, str(source)).id)
        workers = [start(folder, chosen) for folder, chosen in zip(folders, settings, strict=True)]
        try:
            while len(server.requests) < HOSTS * PAGES // 3:
                ended = [worker.poll() for worker in workers]
                assert None in ended, "all were done before one could be killed"
                assert not any(ended), [(folder / "stderr").read_text() for folder in folders]
                time.sleep(0.02)
            victim = folders.index(holder(settings[0], hosts[0]))
            workers[victim].send_signal(signal.SIGKILL)
            workers[victim].wait()
            workers[victim] = start(folders[victim], settings[victim])
            for worker, folder in zip(workers, folders, strict=True):
                assert worker.wait(timeout=5 * PATIENCE) == 0, (folder / "stderr").read_text()
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
        check_pace(server, hosts, DELAY)
        asked = Counter(seen.path for seen in server.requests if seen.path.startswith("/leht/"))
        assert len(asked) == PAGES
        assert sum(asked.values()) <= HOSTS * (PAGES + 1)  # what was under way at the kill may be asked again
        with House(settings[0]) as house:
            assert house.catalogue.totals(now=utc_now()).waiting == 0
            rows, total = house.catalogue.updates(Page(limit=50))
        assert total == WORKERS + 1
        assert sum(row.counts["visited"] for row in rows) == HOSTS * PAGES
        assert Counter(row.state for row in rows) == {UpdateState.DONE: WORKERS, UpdateState.STOPPED: 1}


def harvest(house: House) -> None:
    with house.working() as working:
        working.run(until_idle=True, stopped=lambda: False)


def test_hosts_at_one_address_share_a_pace_when_that_is_wanted(tmp_path: Path) -> None:
    world = World(seed=1, small=True)
    with WorldServer(world, latency=LATENCY) as server:
        hosts = busy_hosts(world)
        source = tmp_path / "pages.txt"
        source.write_text("\n".join(f"http://{host}/leht/{n}" for host in hosts for n in range(4)), encoding="utf-8")
        with House(settings_of(tmp_path / "data", server, "", by_address=True)) as house:
            read_in(house, enter(house, str(source)).id)
            harvest(house)
            (report,) = report_hosts(house, hosts[0])
            assert set(report.facts.neighbours) >= {f"http://{host}" for host in hosts[1:]}
            assert not any("by_address" in line for line in report.advice)
        pages = sorted(seen.at for seen in server.requests if seen.path.startswith("/leht/"))
        assert len(pages) == HOSTS * 4
        assert min(later - sooner for sooner, later in pairwise(pages)) >= DELAY


def test_a_shared_address_is_noticed_and_a_shared_pace_proposed(tmp_path: Path) -> None:
    world = World(seed=1, small=True)
    with WorldServer(world) as server:
        hosts = busy_hosts(world)
        source = tmp_path / "pages.txt"
        source.write_text("\n".join(f"http://{host}/" for host in hosts), encoding="utf-8")
        with House(settings_of(tmp_path / "data", server, "")) as house:
            read_in(house, enter(house, str(source)).id)
            harvest(house)
            (report,) = report_hosts(house, hosts[0])
            assert any("fetch.by_address" in line for line in report.advice)


def test_what_is_ordered_for_a_host_holds(tmp_path: Path) -> None:
    world = World(seed=1, small=True)
    with WorldServer(world, latency=0.4) as server:  # long enough for three requests to be there at once
        hosts = busy_hosts(world)[:2]
        source = tmp_path / "pages.txt"
        source.write_text("\n".join(f"http://{host}/leht/{n}" for host in hosts for n in range(6)), encoding="utf-8")
        with House(settings_of(tmp_path / "data", server, "")) as house:
            read_in(house, enter(house, str(source)).id)
            slow, quick = (report_hosts(house, host)[0].facts for host in hosts)
            order_host(house, slow.row.host_id, slow.orders, delay=0.4)
            order_host(house, quick.row.host_id, quick.orders, connections=3)
            harvest(house)
        check_pace(server, hosts[:1], 0.4)
        assert server.at_once[hosts[1]] == 3


def test_a_worker_goes_by_the_clock_of_the_catalogue(tmp_path: Path) -> None:
    class ClockAhead:
        def clock(self) -> object:
            return utc_now() + timedelta(hours=2)

    house = House(load_settings(data=tmp_path))
    house._catalogue = ClockAhead()  # type: ignore[assignment]
    assert abs(house.shared_clock()() - utc_now() - timedelta(hours=2)) < timedelta(minutes=5)
