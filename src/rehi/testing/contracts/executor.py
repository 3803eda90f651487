"""The executor's contract: what every engine behind the Executor port must do."""

from __future__ import annotations

import signal
import time
from concurrent.futures import Future, wait
from pathlib import Path

import pytest

from rehi.errors import NotText, ReaderCrashed, ReadTimeout, ReadTooLarge
from rehi.ports import Executor
from rehi.testing.contracts.work import (
    ask_to_exit,
    die,
    greet,
    hog,
    leave,
    mark_and_sleep,
    raise_stubborn,
    refuse,
    return_unpicklable,
    sleep,
    stumble,
)
from rehi.testing.waiting import PATIENCE, wait_until

AT_ONCE = PATIENCE / 4  # seconds that nothing here takes unless it waits for work of twice that length


class ExecutorContract:
    """Subclass it with two fixtures of 2 workers and 300 MB of memory each.

    ``executor`` has a timeout of ``PATIENCE``, which a busy machine does not reach; ``hasty`` one of 4 seconds.
    """

    def test_work_gives_its_result(self, executor: Executor) -> None:
        assert executor.submit(greet, "Mari", mark="?").result(PATIENCE) == "Tere, Mari?"

    def test_it_says_how_many_run_at_once(self, executor: Executor) -> None:
        assert executor.workers == 2

    def test_many_tasks_all_come_home(self, executor: Executor) -> None:
        futures = [executor.submit(greet, str(number)) for number in range(300)]
        assert [future.result(PATIENCE) for future in futures] == [f"Tere, {number}!" for number in range(300)]

    def test_our_own_errors_arrive_as_they_were(self, executor: Executor) -> None:
        with pytest.raises(NotText, match="a picture"):
            executor.submit(refuse, "a picture").result(PATIENCE)

    def test_ordinary_errors_arrive_as_they_were(self, executor: Executor) -> None:
        with pytest.raises(ValueError, match="no such number"):
            executor.submit(stumble).result(PATIENCE)

    def test_an_error_that_can_not_travel_is_named(self, executor: Executor) -> None:
        with pytest.raises(ReaderCrashed, match="Stubborn"):
            executor.submit(raise_stubborn).result(PATIENCE)
        self._still_works(executor)

    def test_a_result_that_can_not_travel_is_an_error(self, executor: Executor) -> None:
        assert executor.submit(return_unpicklable).exception(PATIENCE) is not None
        self._still_works(executor)

    @pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
    def test_a_killed_process_costs_one_task(self, executor: Executor, number: int) -> None:
        others = [executor.submit(greet, str(i)) for i in range(10)]
        with pytest.raises(ReaderCrashed):
            executor.submit(die, number).result(PATIENCE)
        assert all(future.result(PATIENCE) for future in others)
        self._still_works(executor)

    def test_a_process_that_leaves_costs_one_task(self, executor: Executor) -> None:
        with pytest.raises(ReaderCrashed):
            executor.submit(leave, 7).result(PATIENCE)
        self._still_works(executor)

    def test_work_that_asks_to_exit_ends_nothing(self, executor: Executor) -> None:
        with pytest.raises(ReaderCrashed):
            executor.submit(ask_to_exit).result(PATIENCE)
        self._still_works(executor)

    def test_work_beyond_its_time_is_ended(self, hasty: Executor) -> None:
        with pytest.raises(ReadTimeout):
            hasty.submit(sleep, PATIENCE).result(AT_ONCE)
        wait_until(lambda: self._greets(hasty), what="the executor still works")

    def test_waiting_for_a_worker_does_not_count_as_time(self, hasty: Executor) -> None:
        wait_until(lambda: self._greets(hasty), what="workers have started and loaded what they need")
        futures = [hasty.submit(sleep, 0.5) for _ in range(18)]  # more than the 4 seconds, for two workers
        assert [future.result(PATIENCE) for future in futures] == [0.5] * 18

    def test_greed_for_memory_is_stopped(self, executor: Executor) -> None:
        with pytest.raises(ReadTooLarge):
            executor.submit(hog, 2000).result(PATIENCE)
        assert executor.submit(hog, 60).result(PATIENCE) == 60
        assert executor.submit(hog, 60).result(PATIENCE) == 60

    def test_close_stops_at_once_and_leaves_nobody_waiting(self, executor: Executor, tmp_path: Path) -> None:
        mark = tmp_path / "begun"
        futures: list[Future[float]] = [executor.submit(mark_and_sleep, str(mark), AT_ONCE * 2) for _ in range(20)]
        wait_until(mark.exists, what="a worker has begun")
        began = time.monotonic()
        executor.close()
        assert time.monotonic() - began < AT_ONCE
        assert not wait(futures, timeout=AT_ONCE).not_done
        executor.close()

    def test_a_closed_executor_takes_nothing_more(self, executor: Executor) -> None:
        executor.close()
        with pytest.raises(ReaderCrashed):
            executor.submit(greet, "Mari")

    def _greets(self, executor: Executor) -> bool:
        """Whether work comes home; on a busy machine even a greeting may take more time than a hasty executor gives."""
        try:
            return executor.submit(greet, "Jaan").result(PATIENCE) == "Tere, Jaan!"
        except ReadTimeout:
            return False

    def _still_works(self, executor: Executor) -> None:
        assert executor.submit(greet, "Jaan").result(PATIENCE) == "Tere, Jaan!"
