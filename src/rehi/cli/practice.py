"""The practice web in a process of its own, with the settings to harvest it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehi.errors import EngineError


@dataclass(frozen=True, slots=True)
class PracticeWeb:
    """Where its crawl log lies, and how to reach its hosts."""

    log: Path
    port: int
    process: int
    fetch: dict[str, Any]


def fetch_settings(resolve: list[str]) -> dict[str, Any]:
    """Return settings for visits to our own web on this machine: impatient and without pauses."""
    return {
        "resolve": resolve,
        "allow_private": ["127.0.0.0/8"],
        "delay": 0.0,
        "max_delay": 0.2,
        "timeout": 8.0,
        "connect_timeout": 3.0,
        "stall_timeout": 3.0,
    }


@contextmanager
def practice_web(log: Path, *options: str) -> Iterator[PracticeWeb]:
    """Start ``rehi world`` on a free port with its crawl log at ``log``, and end it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "rehi",
        "world",
        "--port",
        "0",
        "--json",
        "--with-parent",
        "--log",
        str(log),
        *options,
    ]
    # In a process group of its own, so that Ctrl-C stops the harvest before the web that it harvests.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output = ""
        for line in process.stdout or ():
            output += line
            if line.rstrip() == "}":
                break
        else:
            raise EngineError("the practice web did not start; try: rehi world")
        world = json.loads(output)
        yield PracticeWeb(log, world["port"], process.pid, fetch_settings(world["resolve"]))
    finally:
        process.terminate()
        process.wait(timeout=10)
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
