"""What a run of chaos counts and compares: that it would notice."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

import pytest

from rehi.testing.snapshot import Snapshot
from rehi.testing.world import WorldServer
from tests.chaos import disasters, test_chaos
from tests.chaos.comparison import compare
from tests.chaos.disasters import Outcome, _end, damage
from tests.chaos.household import Household, LostBytes
from tests.chaos.test_chaos import Fate, live_through, need, read_steps, without_orphans

BASE = "http://localhost/graph"
WHOLE = Snapshot(
    resources={"http://a.test/": ("new", 200, ""), "http://b.test/": ("new", 200, "")},
    versions={"http://a.test/": ("1", "2", "3"), "http://b.test/": ("4",)},
    documents={},
    names={},
    texts={},
    problems=frozenset(),
    records=Counter(),
    statements=Counter(
        [
            f"<{BASE}/resource/http://a.test/>\t<s>\t<p>\t1",
            f"<{BASE}/resource/http://b.test/>\t<s>\t<p>\t2",
            f"<{BASE}/entities>\t<s>\t<p>\t3",
        ]
    ),
)
LOST: set[LostBytes] = {("http://a.test/", 2, "2")}


@pytest.fixture
def home(tmp_path: Path) -> Household:
    (tmp_path / "errors.txt").write_text("rehi: the database is away")
    return Household(tmp_path, cast(WorldServer, None), Random(0))


def _command(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code])


def test_only_what_ran_was_killed(home: Household) -> None:
    over = _command("")
    over.wait()
    assert _end(home, over, "update").killed == 0
    assert _end(home, _command("import time; time.sleep(600)"), "update").killed == 1


def test_a_command_that_ends_by_itself_must_end_well(home: Household) -> None:
    failed = _command("raise SystemExit(1)")
    failed.wait()
    with pytest.raises(AssertionError, match="update ended with 1: rehi: the database is away"):
        _end(home, failed, "update")
    assert _end(home, failed, "full disk", codes=(0, 1)).told == "full disk had ended with 1"


def test_what_is_not_lost_is_compared_beside_what_is() -> None:
    compare(WHOLE, WHOLE, LOST)
    without = replace(WHOLE, versions=WHOLE.versions | {"http://a.test/": ("1", "3")})
    compare(without, WHOLE, LOST)
    with pytest.raises(AssertionError):
        compare(without, WHOLE, set())


@pytest.mark.parametrize(
    "versions", [("1", "2"), ("2", "3"), ("3",), ("3", "1", "2"), ("1", "3", "3"), ("1", "2", "2", "3")]
)
def test_a_page_that_lost_a_version_has_all_others_in_order(versions: tuple[str, ...]) -> None:
    other = replace(WHOLE, versions=WHOLE.versions | {"http://a.test/": versions})
    with pytest.raises(AssertionError):
        compare(other, WHOLE, LOST)


@pytest.mark.parametrize("graph", ["resource/http://b.test/", "entities"])
def test_statements_are_compared_though_a_version_is_lost(graph: str) -> None:
    kept = Counter(line for line in WHOLE.statements if not line.startswith(f"<{BASE}/{graph}>"))
    with pytest.raises(AssertionError):
        compare(replace(WHOLE, statements=kept), WHOLE, LOST)


def test_a_step_draws_the_same_whatever_came_before_it(home: Household) -> None:
    fate = Fate(seed=7, engines="sqlite-folder", seconds=1, kills=1)
    steps = range(2001, 2040)
    drawn = []
    for order in (steps, reversed(steps)):
        seen = {}
        for step in order:
            home.chance = fate.chance(step)
            seen[step] = (disasters.draw(home).__name__, home.chance.random())
        drawn.append(seen)
    assert drawn[0] == drawn[1]
    assert len({name for name, _ in drawn[0].values()}) > 2


def test_some_steps_can_be_done_again(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []

    def befall(home: Household, fate: Fate, step: int) -> Outcome:
        done.append(step)
        return Outcome(told="", killed=1)

    monkeypatch.setattr(test_chaos, "befall", befall)
    fate = Fate(seed=7, engines="sqlite-folder", seconds=1, kills=99, steps=read_steps("1003,2001-2003"))
    assert [live_through(home, fate, day) for day in (1, 2, 3)] == [1, 3, 0]
    assert done == [1003, 2001, 2002, 2003]


def test_a_day_on_which_too_few_are_killed_ends_with_a_sentence(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_chaos, "befall", lambda home, fate, step: Outcome(told="it had ended"))
    fate = Fate(seed=7, engines="sqlite-folder", seconds=0.03, kills=3)
    with pytest.raises(AssertionError, match=r"day 1: 0 of 1 kills in .* give more by REHI_SOAK_SECONDS"):
        live_through(home, fate, 1)


def test_what_is_missing_is_a_reason_and_in_ci_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="a C compiler"):
        need(False, "a C compiler")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="a C compiler"):
        need(False, "a C compiler")


def test_where_nothing_is_nothing_is_destroyed(home: Household) -> None:
    assert disasters.destroy(home).told == "there is no file yet"


ORPHAN = """Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/forkserver.py", line 274, in main
    code = _serve_one(child_r, fds,
           ^^^^^^^^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/multiprocessing/synchronize.py", line 115, in __setstate__
    self._semlock = _multiprocessing.SemLock._rebuild(*state)
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
FileNotFoundError: [Errno 2] No such file or directory
"""


def test_a_process_whose_parent_was_killed_is_no_fault_and_any_other_traceback_is() -> None:
    assert without_orphans(f"before\n{ORPHAN}after\n") == "before\nafter\n"
    ours = ORPHAN.replace("multiprocessing/synchronize.py", "rehi/engines/folder.py")
    for other in (ours, ORPHAN.replace("FileNotFoundError", "TypeError")):
        assert without_orphans(other) == other


def test_damage_is_damage() -> None:
    chance, raw = Random(1), bytes(range(256)) * 40
    results = [damage(raw, chance) for _ in range(60)]
    assert None in results
    assert raw not in results
    assert all(result is None or len(result) <= len(raw) for result in results)
