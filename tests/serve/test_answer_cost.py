"""What an answer costs: our own part of it, beyond what the operation itself takes."""

from __future__ import annotations

import asyncio
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

REQUESTS, BATCHES = 50, 8
MOST = 1e-3  # seconds of CPU; .3 to .6 were measured


def _seconds(ask: Callable[[], object]) -> float:
    """The CPU time of one of many, in the batch in which least came between."""
    batches = []
    for _ in range(BATCHES):
        start = process_time()
        for _ in range(REQUESTS):
            ask()
        batches.append((process_time() - start) / REQUESTS)
    return min(batches)


def _scope(path: str) -> dict[str, Any]:
    headers = [(b"host", b"localhost"), (b"accept", b"application/json"), (b"accept-encoding", b"gzip")]
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2),
    }  # fmt: skip


@pytest.mark.parametrize(("path", "operation"), [("/api/workers", list_workers), ("/api/sources", list_sources)])
def test_a_small_answer_costs_less_than_a_millisecond_of_our_own(
    tmp_path: Path, path: str, operation: Callable[[House], object]
) -> None:
    with House(load_settings(data=tmp_path)) as house, asyncio.Runner() as runner:
        app = create_app(house, Service(house))

        async def answer() -> list[Any]:
            sent: list[Any] = []

            async def receive() -> dict[str, Any]:
                return {"type": "http.request", "body": b"", "more_body": False}

            async def send(message: Any) -> None:
                sent.append(message)

            await app(_scope(path), receive, send)
            return sent

        assert runner.run(answer())[0]["status"] == 200
        whole, inside = _seconds(lambda: runner.run(answer())), _seconds(lambda: operation(house))
    assert whole - inside < MOST
