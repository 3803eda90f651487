"""A long harvest of a web that never stops changing and is full of bad servers: nothing leaks, nothing hangs.

Slow and silent servers, resets, endless headers and bodies, bombs, wrong lengths, redirects to private addresses and to
``file:`` come again every few seconds. Run by ``make soak``.
"""

from __future__ import annotations

import os
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest

from rehi.app import House, utc_now
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.operations.sources import enter, read_in
from rehi.pipeline import Progress
from rehi.testing.world import World, WorldServer
from tests.conftest import settings_for

SECONDS = float(os.environ.get("REHI_SOAK_SECONDS", "180"))
SETTLED = 0.4  # of that time, after which everything has been visited at least once
GROWTH_MB = 60  # caches fill up; a leak of a body a visit would be hundreds


def resident_mb() -> float:
    return int(re.findall(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.soak
def test_memory_and_open_files_stay_flat_while_everything_changes(tmp_path: Path) -> None:
    world = World(seed=1, small=True)
    with WorldServer(world) as server:
        log = tmp_path / "world.log"
        log.write_bytes(b"".join(world.crawl_log()))
        settings = settings_for(tmp_path, server)
        fetch = settings.fetch.model_copy(update={"retry_after": 5.0})
        revisit = settings.revisit.model_copy(update={"shortest": 2.0, "longest": 5.0, "gone_after": 20.0})
        world.clock.run(3600)
        samples: list[tuple[float, float, int, int]] = []
        began = time.monotonic()

        def watch(progress: Progress) -> None:
            passed = time.monotonic() - began
            if not samples or passed - samples[-1][0] > SECONDS / 20:
                samples.append((passed, resident_mb(), open_files(), progress.counts["visited"]))

        with House(settings.model_copy(update={"fetch": fetch, "revisit": revisit})) as house:
            read_in(house, enter(house, str(log)).id)
            with house.working() as harvest:
                harvest.run(until_idle=False, stopped=lambda: time.monotonic() - began > SECONDS, on_turn=watch)
            counts = harvest.progress.counts
            problems = house.catalogue.problems(stage=Stage.FETCH, page=Page(limit=1000))[0]
            states = house.catalogue.totals(now=utc_now()).outcomes
        seen = {problem.subject: problem for problem in problems}
        for trap in world.traps:
            if "ok" not in trap.expect:
                assert seen[trap.url].code in trap.expect, trap.url
                assert seen[trap.url].count > 1, f"{trap.url} was tried only once"
        assert states["gone"] > 0
        assert not {host for host in server.counts if not host.endswith(".test")}, "something got past the guard"
    for sample in samples:
        print("{:6.0f} s {:6.0f} MB {:4} files {:6} visits".format(*sample))
    settled = [sample for sample in samples if sample[0] > SECONDS * SETTLED]
    assert counts["new"] > SECONDS
    assert counts["unchanged"] > SECONDS
    assert all(later[3] > sooner[3] for sooner, later in pairwise(samples)), "it stood still"
    assert settled[-1][1] - settled[0][1] < GROWTH_MB
    assert settled[-1][2] - settled[0][2] < 40
