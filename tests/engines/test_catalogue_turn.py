"""Processes that write to one SQLite file take turns, and none waits for ever."""

from __future__ import annotations

import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer

import pytest

from rehi.engines.sql.dialects.turn import Turn
from rehi.testing.waiting import PATIENCE

_HOLD = """
import sys
from rehi.engines.sql.dialects.turn import Turn
print("here", flush=True)
with Turn(sys.argv[1])(urgent=sys.argv[2] == "urgent"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def _another(path: Path, how: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that wants a turn, and holds it until it is killed."""
    other = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    with other:
        try:
            assert _says(other, "here")
            yield other
        finally:
            other.kill()


def _says(other: subprocess.Popen[bytes], word: str, *, within: float = PATIENCE) -> bool:
    assert other.stdout is not None
    ready, _, _ = select.select([other.stdout], [], [], within)
    return bool(ready) and other.stdout.readline().decode() == f"{word}\n"


@pytest.mark.parametrize("urgent", [True, False])
def test_a_turn_begins_when_the_other_process_ends_however_it_ends(tmp_path: Path, urgent: bool) -> None:
    turn = Turn(str(tmp_path / "c.db"), patience=PATIENCE)
    with _another(tmp_path / "c.db", "urgent" if urgent else "patient") as other:
        assert _says(other, "held")
        killer = Timer(0.2, other.kill)
        began = time.monotonic()
        killer.start()
        with turn(urgent=urgent):
            waited = time.monotonic() - began
        killer.join()
    assert 0.2 <= waited < PATIENCE


def test_who_waits_for_too_long_goes_on_and_may_queue_again(tmp_path: Path) -> None:
    turn = Turn(str(tmp_path / "c.db"), patience=0.1)
    with _another(tmp_path / "c.db", "patient") as other:
        assert _says(other, "held")
        with turn(urgent=False):
            pass
    with turn(urgent=False), _another(tmp_path / "c.db", "urgent") as other:
        assert not _says(other, "held", within=0.5)
    with _another(tmp_path / "c.db", "urgent") as other:
        assert _says(other, "held")


def test_two_that_share_a_process_take_turns_too(tmp_path: Path) -> None:
    first, second = (Turn(str(tmp_path / "c.db"), patience=PATIENCE) for _ in range(2))
    order: list[str] = []

    def wait() -> None:
        with second(urgent=False):
            order.append("second")

    waiting = Thread(target=wait)
    with first(urgent=False):
        waiting.start()
        waiting.join(0.2)
        order.append("first")
    waiting.join(PATIENCE)
    assert order == ["first", "second"]


def test_who_gave_up_takes_nobodys_turn_away_later(tmp_path: Path) -> None:
    hasty = Turn(str(tmp_path / "c.db"), patience=0.05)
    with _another(tmp_path / "c.db", "urgent") as other:
        assert _says(other, "held")
        for _ in range(3):
            with hasty(urgent=True):
                pass
    # Those who gave up have the lock one after the other now, and give it back.
    with (
        Turn(str(tmp_path / "c.db"), patience=PATIENCE)(urgent=True),
        _another(tmp_path / "c.db", "urgent") as other,
    ):
        assert not _says(other, "held", within=0.5)


def test_without_a_folder_for_the_lock_everybody_goes_on(tmp_path: Path) -> None:
    with Turn(str(tmp_path / "nowhere" / "c.db"))(urgent=False):
        assert not (tmp_path / "nowhere").exists()
