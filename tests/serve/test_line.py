"""The line before the threads: short, and left early by whoever would stand in it for long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from starlette.exceptions import HTTPException

from rehi.serve.line import PLACES, THREADS, RequestLine
from rehi.testing.waiting import PATIENCE
from tests.conftest import run_coroutine


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


def test_who_stands_in_line_for_long_is_refused_and_nothing_was_done_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehi.serve.line.PATIENCE", PATIENCE)
    go_on, done = threading.Event(), []

    def answer(number: int) -> int:
        done.append(number)
        go_on.wait(PATIENCE)
        return number

    async def ask() -> list[int]:
        line = RequestLine()
        first = []
        for number in range(THREADS):  # each leaves its place to the next one, since it is slow
            first.append(asyncio.create_task(line.run(answer, number)))
            await until(lambda: len(done) == len(first))
        monkeypatch.setattr("rehi.serve.line.PATIENCE", 0.1)
        try:
            with pytest.raises(HTTPException) as refused:
                await line.run(answer, 99)
        finally:
            go_on.set()
        assert (refused.value.status_code, refused.value.headers) == (503, {"retry-after": "2"})
        return [*await asyncio.gather(*first), await line.run(answer, 100)]

    assert run_coroutine(ask()) == [*range(THREADS), 100]
    assert 99 not in done


def test_a_thread_is_free_again_when_its_work_has_failed() -> None:
    def fail() -> None:
        raise KeyError("nothing")

    async def ask() -> str:
        line = RequestLine()
        for _ in range(2 * THREADS):
            with pytest.raises(KeyError):
                await line.run(fail)
        return await line.run(lambda: "well")

    assert run_coroutine(ask()) == "well"


def test_what_is_quick_has_few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehi.serve.line.QUICK", PATIENCE)  # nothing is slow
    monkeypatch.setattr("rehi.serve.line.PATIENCE", PATIENCE)
    go_on, lock = threading.Event(), threading.Lock()
    at_once, most = 0, 0

    def answer() -> None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        go_on.wait(PATIENCE)
        with lock:
            at_once -= 1

    async def ask() -> None:
        line = RequestLine()
        asked = [asyncio.create_task(line.run(answer)) for _ in range(THREADS)]
        await until(lambda: at_once == PLACES)
        go_on.set()
        await asyncio.gather(*asked)

    run_coroutine(ask())
    assert most == PLACES


def test_a_refused_request_takes_no_place_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehi.serve.line.QUICK", PATIENCE)
    monkeypatch.setattr("rehi.serve.line.PATIENCE", 0.01)
    go_on = threading.Event()

    async def ask() -> str:
        line = RequestLine()
        slow = [asyncio.create_task(line.run(go_on.wait, PATIENCE)) for _ in range(PLACES)]
        await asyncio.sleep(0)
        with pytest.raises(HTTPException):
            await line.run(lambda: "never")
        go_on.set()
        await asyncio.gather(*slow)
        return await line.run(lambda: "well")

    assert run_coroutine(ask()) == "well"
