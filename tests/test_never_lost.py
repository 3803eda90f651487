"""Nothing acknowledged is lost, and nothing is there twice, whenever the process is killed.

Here a few kills meet the small practice web; ``make soak`` kills thirty times on the whole of it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rehi.app import House
from rehi.cli.practice import fetch_settings
from rehi.settings import load_settings
from rehi.testing.postgres import PostgresServer, find_postgres
from rehi.testing.snapshot import Snapshot, take_snapshot
from rehi.testing.world import World, WorldServer

# Seconds from the first request of a process to its end: in the middle of the first visits, of a batch that is kept, and
# when documents are read and described.
MOMENTS = (0.0, 0.2, 0.5, 2.4)
JITTER = 0.3
# Seconds between two pages when nobody is killed: without any, a busy machine is late with good pages, and no host of the
# practice web asks for more, so that there is nothing to be noted on any.
BRISK = 0.3
FIRST = 30  # seconds to the first request, at most
LONGEST = 300  # seconds for the last, undisturbed run


@dataclass(frozen=True, slots=True)
class Ordeal:
    """So many kills, and so long a pause between two pages that no machine is done before the last of them."""

    small: bool
    kills: int
    delay: float


# The largest host of the small web has 28 pages, of which at most 22 are visited before the last kill: one at the start of
# each process and one after each delay. That of the whole web has 32, and at most 30 are.
FEW = Ordeal(small=True, kills=8, delay=0.5)
MANY = Ordeal(small=False, kills=30, delay=2.75)


def write_settings(folder: Path, server: WorldServer, *, delay: float, catalogue: str = "") -> Path:
    """Settings for the command line, with the practice web's hosts in them."""
    chosen = fetch_settings(server.resolve_rules) | {"delay": delay}
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


def kill(config: Path, server: WorldServer, *, after: float) -> bool:
    """Start a harvest and kill it so long after its first request; False if it had ended by itself."""
    seen, began = len(server.requests), time.monotonic()
    process = rehi(config, "harvest")
    while len(server.requests) == seen and time.monotonic() - began < FIRST and process.poll() is None:
        time.sleep(0.01)
    time.sleep(after)
    running = process.poll() is None
    process.kill()
    process.communicate()
    return running


def harvest(folder: Path, server: WorldServer, *, delay: float, catalogue: str = "", kills: int = 0) -> Snapshot:
    """Add and harvest, killed at so many moments; what is kept then."""
    log = folder / "world.log"
    log.write_bytes(b"".join(server.world.crawl_log()))
    config = write_settings(folder, server, delay=delay, catalogue=catalogue)
    finish(rehi(config, "add", str(log)))
    chance = random.Random(kills)
    for number in range(kills):
        moment = MOMENTS[number % len(MOMENTS)] + chance.uniform(0, JITTER)
        assert kill(config, server, after=moment), f"it was done before kill {number + 1}"
    finish(rehi(config, "harvest"))
    with House(load_settings(config)) as house:
        return take_snapshot(house)


def compare(disturbed: Snapshot, undisturbed: Snapshot) -> None:
    assert disturbed.resources == undisturbed.resources
    assert disturbed.versions == undisturbed.versions
    assert disturbed.documents == undisturbed.documents
    assert disturbed.names == undisturbed.names
    assert disturbed.problems == undisturbed.problems
    assert disturbed.records == undisturbed.records
    assert disturbed.statements == undisturbed.statements
    assert set(disturbed.statements.values()) == {1}


@pytest.fixture(scope="module")
def webs() -> Iterator[dict[bool, WorldServer]]:
    """The practice web, small and whole."""
    with WorldServer(World(seed=1, small=True), port=0) as small, WorldServer(World(seed=1), port=0) as whole:
        yield {True: small, False: whole}


@pytest.fixture(scope="module")
def undisturbed() -> dict[bool, Snapshot]:
    """What is kept of each web when nobody is killed, as soon as it is known."""
    return {}


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
@pytest.mark.parametrize("ordeal", [FEW, pytest.param(MANY, marks=pytest.mark.soak)], ids=["few", "many"])
def test_kills_change_nothing(
    webs: dict[bool, WorldServer],
    undisturbed: dict[bool, Snapshot],
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    ordeal: Ordeal,
    engine: str,
) -> None:
    web = webs[ordeal.small]
    if ordeal.small not in undisturbed:
        undisturbed[ordeal.small] = harvest(tmp_path_factory.mktemp("undisturbed"), web, delay=BRISK)
    if engine == "sqlite":
        kept = harvest(tmp_path, web, delay=ordeal.delay, kills=ordeal.kills)
    else:
        if find_postgres() is None and not os.environ.get("CI"):
            pytest.skip("there is no PostgreSQL on this machine")
        with PostgresServer() as postgres:
            uri = postgres.uri("never_lost")
            kept = harvest(tmp_path, web, delay=ordeal.delay, catalogue=uri, kills=ordeal.kills)
    compare(kept, undisturbed[ordeal.small])
