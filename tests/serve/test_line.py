"""The line before the threads: short, and left early by whoever would stand in it for long."""

from __future__ import annotations

import asyncio
import threading

import pytest
from starlette.exceptions import HTTPException

from rehi.serve.line import THREADS, Line
from rehi.testing.waiting import PATIENCE


def test_who_stands_in_line_for_long_is_refused_and_nothing_was_done_for_them() -> None:
    go_on, done = threading.Event(), []

    def answer(number: int) -> int:
        done.append(number)
        go_on.wait(PATIENCE)
        return number

    async def ask() -> list[int]:
        line = Line()
        first = [asyncio.create_task(line.run(answer, number)) for number in range(THREADS)]
        await asyncio.sleep(0)  # all have a thread
        try:
            with pytest.raises(HTTPException) as refused:
                await line.run(answer, 99)
        finally:
            go_on.set()
        assert (refused.value.status_code, refused.value.headers) == (503, {"retry-after": "2"})
        return [*await asyncio.gather(*first), await line.run(answer, 100)]

    assert asyncio.run(ask()) == [*range(THREADS), 100]
    assert 99 not in done


def test_a_thread_is_free_again_when_its_work_has_failed() -> None:
    def fail() -> None:
        raise KeyError("nothing")

    async def ask() -> str:
        line = Line()
        for _ in range(2 * THREADS):
            with pytest.raises(KeyError):
                await line.run(fail)
        return await line.run(lambda: "well")

    assert asyncio.run(ask()) == "well"
