"""Chaos: whatever befalls a house, after it is mended it is what an undisturbed one is, but for what it says is lost.

Run by ``make soak NAME=chaos``. ``REHI_SOAK_SECONDS`` (1,200), ``REHI_SOAK_SEED`` (drawn by lot) and ``REHI_SOAK_KILLS`` (200, on
each database) may be set. The seed is printed, and every step has a number and draws from the seed and that alone:
``REHI_SOAK_STEPS=1003,2001-2009`` does only these again. The thousands of a step are its day.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

import pytest

from rehi.testing.postgres import PostgresServer, find_postgres
from rehi.testing.s3 import S3Server, find_seaweed
from rehi.testing.snapshot import Snapshot
from rehi.testing.world import World, WorldServer
from tests.chaos import wrong_clock
from tests.chaos.comparison import compare
from tests.chaos.disasters import Outcome, draw, mend
from tests.chaos.household import Household

SECONDS = float(os.environ.get("REHI_SOAK_SECONDS", "1200"))
KILLS = int(os.environ.get("REHI_SOAK_KILLS", "200"))
SEED = int(os.environ.get("REHI_SOAK_SEED") or secrets.randbelow(1_000_000))
STEPS = os.environ.get("REHI_SOAK_STEPS", "")
DAYS = 3
SLICE = 20  # documents in the slice that runs with all tests
DAY = 86_400.0
_ORPHAN = re.compile(
    r"^Traceback \(most recent call last\):\n(?:  .*forkserver\.py.*\n(?:    .*\n)*|  .*multiprocessing.*\n(?:    .*\n)*)+"
    r"(?<=\^\n)FileNotFoundError: .*\n",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What is to befall a household."""

    seed: int
    engines: str
    seconds: float  # in all
    kills: int
    steps: Sequence[int] = ()  # only these, if any are named
    days: int = DAYS

    def chance(self, step: int) -> Random:
        """Return the lot of one step, whatever came before it."""
        return Random(f"{self.seed} {self.engines} {step}")


def read_steps(text: str) -> list[int]:
    """Return the numbers that ``1003,2001-2009`` means."""
    ranges = [part.partition("-") for part in text.split(",") if part.strip()]
    return [step for first, _, last in ranges for step in range(int(first), int(last or first) + 1)]


def live_through(home: Household, fate: Fate, day: int) -> int:
    """Have a day of disasters, until its time is over and so many were killed; return how many were."""
    seconds, wanted, began, killed = fate.seconds / fate.days, -(-fate.kills // fate.days), time.monotonic(), 0
    chosen = [step for step in fate.steps if step // 1000 == day]
    for step in chosen if fate.steps else count(day * 1000 + 1):
        passed = time.monotonic() - began
        if not fate.steps and passed > seconds and killed >= wanted:
            break
        assert fate.steps or passed <= 2 * seconds, (
            f"day {day}: {killed} of {wanted} kills in {passed:.0f} seconds, twice the time that was given; give more by "
            "REHI_SOAK_SECONDS"
        )
        killed += befall(home, fate, step).killed
    return killed


def befall(home: Household, fate: Fate, step: int) -> Outcome:
    """Do what a step brings, and write it down."""
    home.chance = fate.chance(step)
    disaster = draw(home)
    try:
        outcome = disaster(home)
    except AssertionError:
        print(f"  {step:4} {disaster.__name__} failed; to repeat: REHI_SOAK_SEED={fate.seed} REHI_SOAK_STEPS={step}")
        raise
    home.lost |= outcome.lost
    home.happened.append(f"{disaster.__name__}: {outcome.told}")
    print(f"  {step:4} {home.happened[-1]}", flush=True)
    return outcome


def begin_day(home: Household, web: WorldServer, day: int) -> None:
    """Begin a day: some pages of the web have changed."""
    if day > 1:
        web.world.clock.advance(DAY)
        home.days += 1
        home.set_clock(0)


def finish(home: Household) -> None:
    """Have everything visited once more, and nobody disturbs it."""
    home.run("harvest")
    home.run("update")


def suffer(home: Household, web: WorldServer, fate: Fate) -> int:
    """Have all days of a fate; return how many commands were killed. Only destroyed bytes may be lost."""
    killed = 0
    home.settle_in()
    for day in range(1, fate.days + 1):
        begin_day(home, web, day)
        killed += live_through(home, fate, day)
        assert mend(home) == set(), "what is lost was said after each damage"
        finish(home)
    errors = without_orphans((home.folder / "errors.txt").read_text(errors="replace"))
    assert "Traceback" not in errors, errors[errors.index("Traceback") - 500 :][:5000]
    return killed


def without_orphans(errors: str) -> str:
    """Return what was said of errors but for Python's own words on a process that was being born when its parent was killed."""
    return _ORPHAN.sub("", errors)


def undisturbed(folder: Path, *, days: int, most: int | None = None) -> Snapshot:
    with WorldServer(World(seed=1, small=True), port=0) as web:
        home = Household(folder, web, Random(0), most=most)
        home.settle_in()
        for day in range(1, days + 1):
            begin_day(home, web, day)
            finish(home)
        return home.snapshot()


@pytest.mark.soak
@pytest.mark.parametrize("engines", ["sqlite-folder", "postgresql-bucket"])
def test_chaos(tmp_path: Path, engines: str) -> None:
    need(wrong_clock.can_be_made(), "a C compiler, for the clock that goes wrong")
    fate = Fate(seed=SEED, engines=engines, seconds=SECONDS / 2, kills=KILLS, steps=read_steps(STEPS))
    print(f"\n{engines}: seed {SEED}, {fate.seconds:g} seconds, {KILLS} kills {STEPS and f', only steps {STEPS}'}")
    with ExitStack() as stack:
        expected = undisturbed(tmp_path / "undisturbed", days=fate.days)
        web = stack.enter_context(WorldServer(World(seed=1, small=True), port=0))
        home = Household(tmp_path / "home", web, Random(0), port=_free_port())
        if engines == "postgresql-bucket":
            stack.enter_context(_elsewhere(home))
        killed = suffer(home, web, fate)
        print(f"{engines}: seed {SEED}, {len(home.happened)} steps, {killed} kills, {len(home.lost)} versions lost")
        print(sorted(Counter(line.partition(":")[0] for line in home.happened).items()))
        compare(home.snapshot(), expected, home.lost)


def test_a_small_house_outlives_three_disasters(tmp_path: Path) -> None:
    """A slice of the above: a kill, a wrong clock and a damaged file."""
    need(wrong_clock.can_be_made(), "a C compiler, for the clock that goes wrong")
    fate = Fate(seed=454, engines="sqlite-folder", seconds=0, kills=0, steps=(1001, 1003, 1005), days=1)
    with WorldServer(World(seed=1, small=True), port=0) as web:
        home = Household(tmp_path / "home", web, Random(0), most=SLICE)
        suffer(home, web, fate)
    happened = [line.partition(":")[0] for line in home.happened]
    assert happened == ["kill", "set_clock_wrong", "destroy"]
    compare(home.snapshot(), undisturbed(tmp_path / "undisturbed", days=1, most=SLICE), home.lost)


@contextmanager
def _elsewhere(home: Household) -> Iterator[None]:
    """Let a household have a database server and a bucket."""
    need(find_postgres() is not None, "a PostgreSQL server")
    need(find_seaweed() is not None, "an S3 server")
    with PostgresServer() as home.postgres, S3Server() as home.s3, pytest.MonkeyPatch.context() as patch:
        for name, value in home.s3.environment.items():
            patch.setenv(name, value)
        yield


def need(there: bool, what: str) -> None:
    """Skip a test if something is not here; in CI that is a failure."""
    if not there:
        absent: Callable[[str], object] = pytest.fail if os.environ.get("CI") else pytest.skip
        absent(f"this needs {what}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
