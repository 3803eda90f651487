"""Nothing acknowledged is lost, and nothing is there twice, whenever the process is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehi.app import House
from rehi.cli.practice import fetch_settings
from rehi.settings import load_settings
from rehi.testing.postgres import PostgresServer, find_postgres
from rehi.testing.snapshot import Snapshot, take_snapshot
from rehi.testing.world import World, WorldServer

KILLS = 30
DELAY = 0.7  # the largest host has 32 pages, so that no machine is fast enough to be done before the last kill
LONGEST = 300  # seconds for the last, undisturbed run


@pytest.fixture(scope="module")
def web() -> Iterator[WorldServer]:
    with WorldServer(World(seed=1), port=0) as server:
        yield server


def write_settings(folder: Path, server: WorldServer, catalogue: str = "") -> Path:
    """Settings for the command line, with the practice web's hosts in them."""
    chosen = fetch_settings(server.resolve_rules) | {"delay": DELAY}
    fetch = "".join(f"{name} = {_toml(value)}\n" for name, value in chosen.items())
    config = folder / "rehi.toml"
    config.write_text(
        f'data = "{folder / "data"}"\ncatalogue = "{catalogue}"\n[fetch]\n{fetch}[work]\nworkers = 2\n',
        encoding="utf-8",
    )
    return config


def _toml(value: object) -> str:
    return str(value).replace("'", '"') if isinstance(value, list) else str(value)


def rehi(config: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rehi", "--config", str(config), *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, errors.decode()


def harvest(config: Path, log: Path, kills: random.Random | None) -> int:
    """Add and harvest, killed at random moments; how often a kill hit a running process."""
    finish(rehi(config, "add", str(log)))
    hits = 0
    while kills is not None and hits < KILLS:
        process = rehi(config, "harvest")
        time.sleep(kills.uniform(0.4, 2.2))
        if process.poll() is not None:
            process.communicate()
            break
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        hits += 1
    finish(rehi(config, "harvest"))
    return hits


def snapshot(config: Path) -> Snapshot:
    with House(load_settings(config)) as house:
        return take_snapshot(house)


@pytest.fixture(scope="module")
def undisturbed(web: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    folder = tmp_path_factory.mktemp("undisturbed")
    log = folder / "world.log"
    log.write_bytes(b"".join(web.world.crawl_log()))
    config = write_settings(folder, web)
    harvest(config, log, None)
    return snapshot(config)


def compare(disturbed: Snapshot, undisturbed: Snapshot) -> None:
    assert disturbed.resources == undisturbed.resources
    assert disturbed.versions == undisturbed.versions
    assert disturbed.documents == undisturbed.documents
    assert disturbed.names == undisturbed.names
    assert disturbed.problems == undisturbed.problems
    assert disturbed.records == undisturbed.records
    assert disturbed.statements == undisturbed.statements
    assert set(disturbed.statements.values()) == {1}


def test_thirty_kills_on_sqlite_change_nothing(web: WorldServer, undisturbed: Snapshot, tmp_path: Path) -> None:
    log = tmp_path / "world.log"
    log.write_bytes(b"".join(web.world.crawl_log()))
    config = write_settings(tmp_path, web)
    assert harvest(config, log, random.Random(1)) == KILLS
    compare(snapshot(config), undisturbed)


def test_thirty_kills_on_postgresql_change_nothing(web: WorldServer, undisturbed: Snapshot, tmp_path: Path) -> None:
    if find_postgres() is None and not os.environ.get("CI"):
        pytest.skip("there is no PostgreSQL on this machine")
    with PostgresServer() as postgres:
        log = tmp_path / "world.log"
        log.write_bytes(b"".join(web.world.crawl_log()))
        config = write_settings(tmp_path, web, postgres.uri("never_lost"))
        assert harvest(config, log, random.Random(2)) == KILLS
        compare(snapshot(config), undisturbed)
