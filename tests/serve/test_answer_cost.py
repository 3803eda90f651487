"""What an answer costs: our own part of it, beyond what the operation itself takes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from rehi.app import House
from rehi.operations.sources import list_sources
from rehi.operations.workers import list_workers
from rehi.serve.application import create_app
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE

PROJECT = Path(__file__).parents[2]
REQUESTS, BATCHES = 50, 8
MOST = 1e-3  # seconds of CPU; .3 to .6 were measured


def _seconds(ask_all: Callable[[], object]) -> float:
    """Return the CPU time of one of many, in the batch in which least came between."""
    batches = []
    for _ in range(BATCHES):
        start = process_time()
        ask_all()
        batches.append((process_time() - start) / REQUESTS)
    return min(batches)


def _scope(path: str) -> dict[str, Any]:
    headers = [(b"host", b"localhost"), (b"accept", b"application/json"), (b"accept-encoding", b"gzip")]
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2),
    }  # fmt: skip


def measure(data: Path, path: str, operation: Callable[[House], object]) -> float:
    """Return the seconds of CPU that an answer takes beyond its operation."""
    with House(load_settings(data=data)) as house, asyncio.Runner() as runner:
        app = create_app(house, Service(house))

        async def answer() -> list[Any]:
            sent: list[Any] = []

            async def receive() -> dict[str, Any]:
                return {"type": "http.request", "body": b"", "more_body": False}

            async def send(message: Any) -> None:
                sent.append(message)

            await app(_scope(path), receive, send)
            return sent

        async def answer_all() -> None:  # in one run, as a server does: with each, threads are started anew
            for _ in range(REQUESTS):
                await answer()

        def operate() -> None:
            for _ in range(REQUESTS):
                operation(house)

        assert runner.run(answer())[0]["status"] == 200
        whole, inside = _seconds(lambda: runner.run(answer_all())), _seconds(operate)
    return whole - inside


OPERATIONS: dict[str, Callable[[House], object]] = {"/api/workers": list_workers, "/api/sources": list_sources}


@pytest.mark.parametrize("path", OPERATIONS)
def test_a_small_answer_costs_less_than_a_millisecond_of_our_own(tmp_path: Path, path: str) -> None:
    """In a process of its own: the CPU time of this one is also that of whatever other tests have left running in it."""
    code = (
        "from pathlib import Path; from tests.serve.test_answer_cost import OPERATIONS, measure; "
        f"print(measure(Path({str(tmp_path)!r}), {path!r}, OPERATIONS[{path!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert float(done.stdout) < MOST
