"""Nothing acknowledged is lost, and nothing is there twice, whenever the process is killed.

Here a few kills meet the small practice web; ``make soak`` kills thirty times on the whole of it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rehi.app import House
from rehi.cli.practice import fetch_settings
from rehi.model.listing import Totals
from rehi.settings import load_settings
from rehi.testing.postgres import PostgresServer, find_postgres
from rehi.testing.snapshot import Snapshot, take_snapshot
from rehi.testing.waiting import PATIENCE, wait_until
from rehi.testing.world import World, WorldServer
from tests.conftest import PATIENT

JITTER = 0.3  # seconds from what a kill waits for to the kill, at most; on a busy machine it may be more
# Seconds between two pages when nobody is killed: without any, a busy machine is late with good pages, and no host of the
# practice web asks for more, so that there is nothing to be noted on any.
BRISK = 0.3
LARGEST = 3_000_000  # bytes of a body: so huge ones are too large soon, and never too slow
LONGEST = 10 * PATIENCE  # seconds for the last, undisturbed run


@dataclass(frozen=True, slots=True)
class Ordeal:
    """So many kills, and the pause between two pages until the last of them."""

    small: bool
    kills: int
    delay: float


# The largest host of the small web has 28 pages, that of the whole web 32: so a harvest takes 42 and 88 seconds at least,
# and is killed within a few.
FEW = Ordeal(small=True, kills=6, delay=1.5)
MANY = Ordeal(small=False, kills=30, delay=2.75)


def write_settings(folder: Path, server: WorldServer, *, delay: float, catalogue: str = "") -> Path:
    """Settings for the command line, with the practice web's hosts in them."""
    chosen = fetch_settings(server.resolve_rules) | PATIENT | {"delay": delay, "max_bytes": LARGEST}
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


def count(house: House) -> Totals:
    return house.catalogue.totals(now=house.catalogue.clock())


def moments(house: House, server: WorldServer) -> list[Callable[[], bool]]:
    """When to kill: at the first request, among further ones, when visits are on record, when documents are."""
    seen, before = len(server.requests), count(house)
    return [
        lambda: len(server.requests) > seen,
        lambda: len(server.requests) > seen + 5,
        lambda: count(house).versions > before.versions,
        lambda: count(house).documents > before.documents,
    ]


def kill(config: Path, server: WorldServer, *, moment: int, later: float) -> bool:
    """Start a harvest, and kill it a little after such a moment; False if it had ended by itself."""
    with House(load_settings(config)) as house:
        due = moments(house, server)[moment]
        process = rehi(config, "harvest")
        wait_until(lambda: due() or process.poll() is not None, what="the harvest gets on", pause=0.01)
    time.sleep(later)
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
    hits = sum(kill(config, server, moment=n % 4, later=chance.uniform(0, JITTER)) for n in range(kills))
    assert hits >= kills / 2, f"it was done after {hits} kills"
    write_settings(folder, server, delay=BRISK, catalogue=catalogue)
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
