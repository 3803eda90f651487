"""Queries that take long, and everybody else."""

from __future__ import annotations

import asyncio
import http.client
import re
import threading
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import pytest
from starlette.exceptions import HTTPException

from rehi.app import House
from rehi.serve import lane, running
from rehi.serve.lane import QueryLane
from rehi.service import Service
from rehi.settings import QuerySettings
from rehi.testing.waiting import PATIENCE
from tests.conftest import Harvested
from tests.serve.conftest import Ask

T = TypeVar("T")
BOMB = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
LOOK_UP = "SELECT * { ?s a ?type } LIMIT 5"


@pytest.fixture(scope="module")
def hasty(harvested: Harvested) -> Iterator[str]:
    """A service whose queries are ended after some seconds, so that none outlives a test for long."""
    settings = harvested.settings.model_copy(update={"query": QuerySettings(timeout=3)})
    with House(settings) as house, running(house, Service(house), port=0) as address:
        yield address


def _run(asked: Coroutine[Any, Any, T]) -> T:
    """Run in a thread of its own: in this one Playwright may have a loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asked).result()


def test_clients_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "THREADS", 1)
    order: list[str] = []

    async def ask_all() -> None:
        queries, first = QueryLane(), threading.Event()
        asked: list[asyncio.Task[object]] = [asyncio.create_task(queries.run("greedy", lambda: first.wait(PATIENCE)))]
        await asyncio.sleep(0)
        asked += [asyncio.create_task(queries.run("greedy", lambda: order.append("greedy"))) for _ in range(5)]
        asked += [asyncio.create_task(queries.run("modest", lambda: order.append("modest"))) for _ in range(2)]
        await asyncio.sleep(0)
        first.set()
        await asyncio.gather(*asked)

    _run(ask_all())
    assert order == ["greedy", "modest", "greedy", "modest", "greedy", "greedy", "greedy"]


def test_who_waits_for_too_much_is_told_so_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "WAITING_BY_CLIENT", 3)
    monkeypatch.setattr(lane, "WAITING", 5)

    async def ask_all() -> list[int]:
        queries, first, statuses = QueryLane(), threading.Event(), []
        asked = []
        for client in ["a"] * 6 + ["b"] * 5:
            asked.append(asyncio.create_task(queries.run(client, lambda: first.wait(PATIENCE))))
            await asyncio.sleep(0)
        first.set()
        for answer in await asyncio.gather(*asked, return_exceptions=True):
            assert isinstance(answer, HTTPException | bool)
            statuses.append(answer.status_code if isinstance(answer, HTTPException) else 200)
        return statuses

    assert _run(ask_all()) == [200] * 4 + [429] * 2 + [200] * 3 + [503] * 2


def test_who_has_gone_leaves_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "THREADS", 1)

    async def ask_all() -> str:
        queries, first = QueryLane(), threading.Event()
        running = asyncio.create_task(queries.run("a", lambda: first.wait(PATIENCE)))
        await asyncio.sleep(0)
        gone = [asyncio.create_task(queries.run("b", lambda: None)) for _ in range(3)]
        await asyncio.sleep(0)
        for task in gone:
            task.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
        first.set()
        await running
        return await queries.run("b", lambda: "answered")

    assert _run(ask_all()) == "answered"


def test_who_goes_when_it_would_be_their_turn_takes_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "THREADS", 1)

    async def ask_all() -> str:
        queries, first = QueryLane(), threading.Event()
        running = asyncio.create_task(queries.run("a", lambda: first.wait(PATIENCE)))
        await asyncio.sleep(0)
        gone = asyncio.create_task(queries.run("a", lambda: None))
        stayed = asyncio.create_task(queries.run("a", lambda: "answered"))
        await asyncio.sleep(0)
        first.set()
        queries._threads.submit(int).result(PATIENCE)  # the one thread is free: the answer waits in the loop
        asyncio.get_running_loop().call_soon(gone.cancel)
        await running
        return await asyncio.wait_for(stayed, PATIENCE)

    assert _run(ask_all()) == "answered"


class _User(threading.Thread):
    """Somebody who asks for one path again and again, from an address of their own."""

    def __init__(self, address: str, source: str, path: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._address, self._source, self._path, self._stop_asking = urlsplit(address), source, path, stop
        self.waits: list[float] = []
        self.statuses: list[int] = []

    def run(self) -> None:
        while not self._stop_asking.is_set():
            self.ask()

    def ask(self) -> None:
        began = time.monotonic()
        connection = http.client.HTTPConnection(
            self._address.hostname or "", self._address.port, timeout=PATIENCE, source_address=(self._source, 0)
        )
        try:
            connection.request("GET", self._path, headers={"accept": "application/json"})
            answer = connection.getresponse()
            answer.read()
            self.statuses.append(answer.status)
        finally:
            connection.close()
        self.waits.append(time.monotonic() - began)


def test_while_four_users_ask_bombs_look_ups_and_pages_are_answered(hasty: str) -> None:
    stop = threading.Event()
    look_up = _User(hasty, "127.0.0.9", f"/sparql?query={quote(LOOK_UP)}", stop)
    pages = [_User(hasty, "127.0.0.10", path, stop) for path in ("/api/status", "/documents")]
    for _ in range(10):
        for user in (look_up, *pages):
            user.ask()
    alone = look_up.waits[0], [max(page.waits[1:]) for page in pages]  # with the start of a process
    bombs = [_User(hasty, f"127.0.1.{n}", f"/sparql?query={quote(BOMB)}", stop) for n in range(1, 5) for _ in range(3)]
    for user in bombs:
        user.start()
    for user in (look_up, *pages):
        user.waits.clear()
    for _ in range(30):
        for user in (look_up, *pages):
            user.ask()
    stop.set()
    for user in bombs:
        user.join(PATIENCE)
    assert {status for user in (look_up, *pages) for status in user.statuses} == {200}
    # On a busy machine a second means nothing, and two of thirty may meet with what else is done there.
    assert sorted(look_up.waits)[-3] < max(1.0, 8 * alone[0])
    for page, usual in zip(pages, alone[1], strict=True):
        assert sorted(page.waits)[-3] < max(0.3, 20 * usual)


def test_a_long_query_does_not_stop_the_event_loop(ask: Ask) -> None:
    statuses: list[int] = []
    body = ("SELECT * { " + "?a ?b ?c . " * 9_000).encode()[:99_000]
    asked = [
        threading.Thread(
            target=lambda: statuses.append(ask("/sparql", body=body, content_type="application/sparql-query").status)
        )
        for _ in range(8)
    ]
    for thread in asked:
        thread.start()
    began = time.monotonic()
    assert ask("/static/style.css").status == 200
    waited = time.monotonic() - began
    for thread in asked:
        thread.join(PATIENCE)
    assert set(statuses) <= {400, 429}
    assert waited < PATIENCE / 10


def test_the_page_shows_the_first_rows_and_says_that_there_are_more(ask: Ask) -> None:
    shown = ask("/sparql?query=" + quote("SELECT * { ?s ?p ?o }"), accept="text/html")
    assert shown.status == 200
    assert re.search(r"the first 1\s000 rows", shown.text)
    assert len(shown.body) < 3_000_000
