"""Chaos: whatever befalls a house, after it is mended it is what an undisturbed one is, but for what it says is lost.

Run by ``make soak NAME=chaos``. ``REHI_SOAK_SECONDS`` (1,200), ``REHI_SOAK_SEED`` (drawn by lot) and ``REHI_SOAK_KILLS`` (200, on
each database) may be set; the seed is printed, so that a failure can be repeated.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from rehi.testing.postgres import PostgresServer
from rehi.testing.s3 import S3Server
from rehi.testing.snapshot import Snapshot
from rehi.testing.world import World, WorldServer
from tests.chaos.disasters import DISASTERS, kill, mend
from tests.chaos.household import Household

SECONDS = float(os.environ.get("REHI_SOAK_SECONDS", "1200"))
KILLS = int(os.environ.get("REHI_SOAK_KILLS", "200"))
SEED = int(os.environ.get("REHI_SOAK_SEED") or secrets.randbelow(1_000_000))
ROUNDS = 3
DAY = 86_400.0


def disasters(chance: Random, *, seconds: float, kills: int) -> Iterator[Callable[[Household], str]]:
    """Yield what comes next until the time is over, at least so many kills among it."""
    end, killed = time.monotonic() + seconds, 0
    while (late := time.monotonic() > end) is False or killed < kills:
        chosen = kill if late else chance.choices(list(DISASTERS), weights=list(DISASTERS.values()))[0]
        killed += chosen.__name__ != "destroy"  # all others end by a kill
        yield chosen


def go_on(home: Household, web: WorldServer, number: int) -> None:
    """Begin a day: some pages of the web have changed."""
    if number:
        web.world.clock.advance(DAY)
        home.days += 1
        home.set_clock(0)


def finish(home: Household) -> None:
    """Have everything visited once more, and nobody disturbs it."""
    home.run("harvest")
    home.run("update")


@pytest.mark.soak
@pytest.mark.parametrize("engines", ["sqlite-folder", "postgresql-bucket"])
def test_chaos(tmp_path: Path, engines: str) -> None:
    print(f"\n{engines}: seed {SEED}, {SECONDS / 2:g} seconds, {KILLS} kills")
    with ExitStack() as stack:
        undisturbed = _undisturbed(tmp_path / "undisturbed")
        web = stack.enter_context(WorldServer(World(seed=1, small=True), port=0))
        home = Household(tmp_path / "home", web, Random(f"{SEED} {engines}"), port=_free_port())
        if engines == "postgresql-bucket":
            home.postgres = stack.enter_context(PostgresServer())
            home.s3 = stack.enter_context(S3Server())
            for name, value in home.s3.environment.items():
                stack.enter_context(pytest.MonkeyPatch.context()).setenv(name, value)
        home.settle_in()
        for number in range(ROUNDS):
            go_on(home, web, number)
            for disaster in disasters(home.chance, seconds=SECONDS / 2 / ROUNDS, kills=-(-KILLS // ROUNDS)):
                home.happened.append(f"{disaster.__name__}: {disaster(home)}")
                print(f"  {len(home.happened):4} {home.happened[-1]}", flush=True)
            home.lost |= mend(home)
            finish(home)
        print(Counter(line.partition(":")[0] for line in home.happened), f"{len(home.lost)} versions lost")
        errors = (home.folder / "errors.txt").read_text(errors="replace")
        assert "Traceback" not in errors, errors[-5000:]
        compare(home.snapshot(), undisturbed, home.lost)


def _undisturbed(folder: Path) -> Snapshot:
    with WorldServer(World(seed=1, small=True), port=0) as web:
        home = Household(folder, web, Random(0))
        home.settle_in()
        for number in range(ROUNDS):
            go_on(home, web, number)
            finish(home)
        return home.snapshot()


def compare(disturbed: Snapshot, undisturbed: Snapshot, lost: set[tuple[str, int]]) -> None:
    """What is there is the same; only of pages that lost a version some versions may be missing."""
    less = {url for url, _ in lost}
    assert _states(disturbed) == _states(undisturbed)
    assert disturbed.documents == undisturbed.documents
    assert disturbed.texts == undisturbed.texts
    assert disturbed.names == undisturbed.names
    assert disturbed.versions.keys() == undisturbed.versions.keys()
    for url, digests in undisturbed.versions.items():
        if url in less:
            assert set(disturbed.versions[url]) <= set(digests)
            assert disturbed.versions[url][-1] == digests[-1]
        else:
            assert disturbed.versions[url] == digests, url
    if not less:
        assert disturbed.statements == undisturbed.statements
    assert set(disturbed.statements.values()) == {1}


def _states(snapshot: Snapshot) -> dict[str, tuple[str, str]]:
    """Return what became of each URL; whether its last visit was the first to see it so depends on how often it was visited."""
    return {
        url: ("there" if state in ("new", "unchanged") else state, redirect)
        for url, (state, _, redirect) in snapshot.resources.items()
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
