"""Processes that write to one SQLite file take turns, and none waits for ever."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

from rehi.engines.sql.turn import Turn

_HOLD = """
import sys
from rehi.engines.sql.turn import Turn
with Turn(sys.argv[1]).take(urgent=sys.argv[2] == "urgent"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def _held_elsewhere(path: Path, how: str) -> Iterator[subprocess.Popen[str]]:
    other = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        try:
            yield other
        finally:
            other.kill()


@pytest.mark.parametrize("urgent", [True, False])
def test_a_turn_begins_when_the_other_process_ends_however_it_ends(tmp_path: Path, urgent: bool) -> None:
    turn = Turn(str(tmp_path / "c.db"), patience=30)
    with _held_elsewhere(tmp_path / "c.db", "urgent" if urgent else "patient") as other:
        killer = Timer(0.2, other.kill)
        began = time.monotonic()
        killer.start()
        with turn.take(urgent=urgent):
            waited = time.monotonic() - began
        killer.join()
    assert 0.2 <= waited < 20
    turn.close()


def test_who_waits_for_too_long_goes_on_and_may_queue_again(tmp_path: Path) -> None:
    turn = Turn(str(tmp_path / "c.db"), patience=0.1)
    with _held_elsewhere(tmp_path / "c.db", "patient"), turn.take(urgent=False):
        pass
    with turn.take(urgent=False):
        assert not _can_have(tmp_path / "c.db")
    assert _can_have(tmp_path / "c.db")
    turn.close()


def _can_have(path: Path) -> bool:
    """Whether another process gets the turn within two seconds."""
    other = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path), "urgent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with other:
        try:
            return other.communicate("", timeout=2)[0] == "held\n"
        except subprocess.TimeoutExpired:
            return False
        finally:
            other.kill()


def test_without_a_folder_for_the_lock_everybody_goes_on(tmp_path: Path) -> None:
    with Turn(str(tmp_path / "nowhere" / "c.db")).take(urgent=False):
        assert not (tmp_path / "nowhere").exists()
