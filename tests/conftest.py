"""What many tests share: the practice web, and a house that has harvested it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest

from rehi.app import House
from rehi.cli.practice import fetch_settings
from rehi.engines import local
from rehi.operations.sources import enter, read_in
from rehi.settings import Settings, load_settings
from rehi.testing.postgres import PostgresServer, find_postgres
from rehi.testing.s3 import S3Server, find_seaweed
from rehi.testing.waiting import wait_until
from rehi.testing.world import World, WorldServer

T = TypeVar("T")

# On a busy machine the making of an example may take long: that says nothing of the code under test.
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")

# The files that take longest, most of it waiting for web servers that are slow on purpose: begun first, so that the processes
# which run the tests end together. By themselves they would come last, since they hold few tests.
LONGEST_FIRST = (
    "test_workers.py",
    "test_chaos.py",
    "test_never_lost.py",
    "test_schemathesis.py",
    "test_released.py",
    "test_docs.py",
    "test_outsiders.py",
    "test_broken.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the longest files first; all else stays in order."""
    items.sort(key=lambda item: LONGEST_FIRST.index(item.path.name) if item.path.name in LONGEST_FIRST else 99)


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """A real S3 server, and in the environment the credentials for it."""
    if find_seaweed() is None:
        reason = "there is no S3 server here"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with S3Server() as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        end_fork_server()  # that of earlier tests has no credentials in its environment
        yield server


def end_fork_server() -> None:
    """End the fork server of this process, if there is one, with all that comes from it; the next pool brings another.

    It is killed: told to end, it would wait for the workers of every house that a fixture holds open.
    """
    server: Any = forkserver._forkserver
    if server._forkserver_pid is not None:
        os.kill(server._forkserver_pid, signal.SIGKILL)
        server._stop()


def run_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns; it runs in a thread of its own, since a browser's loop may run in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def kill_fork_server() -> None:
    """Kill the fork server as somebody else would; the one that comes next, while there is none."""
    pid = wait_until(local._fork_server, what="there is a fork server")
    assert pid
    os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for one module's tests."""
    if find_postgres() is None:
        reason = "there is no PostgreSQL server here"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with PostgresServer() as server:
        yield server


@dataclass(frozen=True, slots=True)
class Harvested:
    """A data folder after one harvest of the small practice web, and that web."""

    settings: Settings
    server: WorldServer
    log: Path

    @property
    def world(self) -> World:
        return self.server.world


@pytest.fixture(scope="session")
def practice_web() -> Iterator[WorldServer]:
    with WorldServer(World(seed=1, small=True)) as server:
        yield server


# At a load of 30 on two cores even a good page may not come within 10 seconds. Three bad ones of one host, one after
# another, come to an end only by the last of these.
PATIENT = {"timeout": 30.0, "connect_timeout": 20.0, "stall_timeout": 10.0}


def settings_for(folder: Path, server: WorldServer) -> Settings:
    return load_settings(data=folder / "data", fetch=fetch_settings(server.resolve_rules) | PATIENT)


@pytest.fixture(scope="session")
def harvested(practice_web: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Harvested:
    """Tests may change it. It is harvested once, and each process that runs tests has a copy of its own."""
    folder, every = tmp_path_factory.mktemp("harvested"), tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        every = every.parent
    with (every / "harvest.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (every / "harvest" / "done").exists():
            harvest_into(every / "harvest", practice_web)
    settings = settings_for(folder, practice_web)
    shutil.copytree(every / "harvest" / "data", settings.data)
    return Harvested(settings, practice_web, every / "harvest" / "world.log")


def harvest_into(folder: Path, server: WorldServer) -> None:
    """All of a web, and its crawl log."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    log = folder / "world.log"
    log.write_bytes(b"".join(server.world.crawl_log()))
    with House(settings_for(folder, server)) as house:
        read_in(house, enter(house, str(log)).id)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
    (folder / "done").touch()
