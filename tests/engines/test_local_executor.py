"""The local executor, on real processes."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rehi.engines import local, local_worker
from rehi.engines.local import LocalExecutor
from rehi.errors import NotText, ReaderCrashed, ReadTooLarge
from rehi.testing.contracts.executor import AT_ONCE, ExecutorContract
from rehi.testing.contracts.work import (
    ask_to_exit,
    die,
    greet,
    mark_and_sleep,
    raise_stubborn,
    refuse,
    return_unpicklable,
    sleep,
    stumble,
)
from rehi.testing.waiting import PATIENCE, wait_until
from tests.conftest import kill_fork_server

MEMORY = 300_000_000


@pytest.fixture
def executor() -> Iterator[LocalExecutor]:
    executor = LocalExecutor(2, timeout=PATIENCE, memory=MEMORY)
    yield executor
    executor.close()


@pytest.fixture
def hasty() -> Iterator[LocalExecutor]:
    executor = LocalExecutor(2, timeout=4, memory=MEMORY)
    yield executor
    executor.close()


class TestLocalExecutor(ExecutorContract):
    """The contract, kept by processes on this machine."""


MALLOC = """
(lambda allocate: (
    setattr(allocate, "restype", ctypes.c_void_p), setattr(allocate, "argtypes", [ctypes.c_size_t]), allocate({size})
)[-1] is not None)(ctypes.CDLL(None).malloc)
"""


def is_running(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(processes: set[int]) -> None:
    wait_until(lambda: not any(map(is_running, processes)), what="all workers are gone")


def test_a_worker_has_its_limits_no_core_dumps_and_low_priority(executor: LocalExecutor) -> None:
    assert executor.submit(resource.getrlimit, resource.RLIMIT_DATA).result(PATIENCE) == (MEMORY, MEMORY)
    assert executor.submit(resource.getrlimit, resource.RLIMIT_CORE).result(PATIENCE) == (0, 0)
    assert executor.submit(os.nice, 0).result(PATIENCE) >= min(19, os.nice(0) + 10)


def test_native_code_gets_no_more_memory_than_python(executor: LocalExecutor) -> None:
    assert _allocates(executor, 50_000_000)
    assert not _allocates(executor, 500_000_000)


def _allocates(executor: LocalExecutor, size: int) -> bool:
    source = MALLOC.format(size=size).strip().replace("ctypes.", "__import__('ctypes').")
    return bool(executor.submit(eval, source).result(PATIENCE))


def test_ctrl_c_is_not_the_workers_business(executor: LocalExecutor) -> None:
    assert executor.submit(signal.getsignal, signal.SIGINT).result(PATIENCE) == signal.SIG_IGN
    assert signal.SIGINT in executor.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result(PATIENCE)


def test_no_processor_is_left_idle_by_default() -> None:
    assert LocalExecutor(0, timeout=1, memory=MEMORY).workers == len(os.sched_getaffinity(0))


def test_an_idle_worker_that_dies_costs_nothing(executor: LocalExecutor) -> None:
    for _ in range(3):
        workers = {executor.submit(os.getpid).result(PATIENCE) for _ in range(20)}
        for worker in workers:
            with suppress(ProcessLookupError):  # ended with the first
                os.kill(worker, signal.SIGKILL)
        wait_until_gone(workers)
        futures = [executor.submit(greet, "Mari") for _ in range(10)]
        assert [future.result(PATIENCE) for future in futures] == ["Tere, Mari!"] * 10


def test_a_fork_server_that_is_killed_again_and_again_is_brought_again(
    executor: LocalExecutor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As it was attacked: four times it was killed under its tasks, and reading stopped for good without a word."""
    for number in range(4):
        marks = [tmp_path / f"{number}-{task}" for task in range(4)]
        tasks = [executor.submit(mark_and_sleep, str(mark), 0.3) for mark in marks]
        wait_until(lambda: any(mark.exists() for mark in marks), what="a worker has begun")  # noqa: B023
        kill_fork_server()
        assert [task.result(PATIENCE) for task in tasks] == [0.3] * 4  # none is blamed, not even those under way
        wait_until(lambda n=number: executor.restarts > n, what="it is counted")  # type: ignore[misc]
        wait_until(lambda: not executor.trouble, what="new processes are there")
    assert "their fork server was killed" in caplog.text
    with pytest.raises(ReaderCrashed, match="SIGKILL"):  # what ends its own process is still to blame
        executor.submit(die, signal.SIGKILL).result(PATIENCE)
    assert executor.submit(greet, "Mari").result(PATIENCE)


def test_a_pool_that_can_not_be_made_is_waited_for(executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = [], local._make_pool

    def refuse_twice(*arguments: Any) -> Any:
        made.append(executor.trouble)
        if len(made) < 3:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return make(*arguments)

    monkeypatch.setattr(local, "_make_pool", refuse_twice)
    assert executor.submit(greet, "Mari").result(PATIENCE) == "Tere, Mari!"
    assert (len(made), executor.restarts, executor.trouble) == (3, 2, "")
    assert "temporarily unavailable" in made[-1]


def test_close_ends_the_wait_for_a_pool(executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(local, "_make_pool", fail)
    monkeypatch.setattr(local, "SHORTEST", PATIENCE)
    task = executor.submit(greet, "Mari")
    wait_until(lambda: executor.trouble, what="it has failed once")
    executor.close()
    with pytest.raises(ReaderCrashed):
        task.result(AT_ONCE)


def test_a_clock_that_jumps_is_no_reason_to_give_a_task_up(executor: LocalExecutor, tmp_path: Path) -> None:
    from pebble.pool import process as pebble_pool

    mark = tmp_path / "begun"
    task = executor.submit(mark_and_sleep, str(mark), 0.5)
    wait_until(mark.exists, what="a worker has begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pebble_pool, "time", _Ahead())
        wait_until(lambda: _Ahead.asked, what="the pool has looked at the clock")
    assert task.result(PATIENCE) == 0.5


class _Ahead:
    """The module ``time`` of a machine whose clock was set an hour on."""

    asked = 0
    sleep = staticmethod(time.sleep)

    def time(self) -> float:
        _Ahead.asked += 1
        return time.time() + 3600


def test_a_cancelled_task_makes_room(executor: LocalExecutor) -> None:
    slow = [executor.submit(sleep, PATIENCE) for _ in range(8)]
    for future in slow:
        assert future.cancel()
    assert not wait(slow, timeout=PATIENCE).not_done
    assert executor.submit(greet, "Mari").result(AT_ONCE)  # two of them alone would take four times that


def test_close_does_not_wait_for_tasks_that_fill_the_pipe(executor: LocalExecutor, tmp_path: Path) -> None:
    mark, ballast = tmp_path / "begun", b"x" * 3_000_000
    futures = [executor.submit(mark_and_sleep, str(mark), AT_ONCE * 2, ballast) for _ in range(20)]
    wait_until(mark.exists, what="a worker has begun")
    began = time.monotonic()
    executor.close()
    assert time.monotonic() - began < AT_ONCE
    with pytest.raises(ReaderCrashed):
        futures[-1].result(PATIENCE)


def test_large_results_come_home(executor: LocalExecutor) -> None:
    assert len(executor.submit(bytes, 20_000_000).result(PATIENCE)) == 20_000_000


PROGRAM = """
import signal, sys
from rehi.cli.foreground import stop_on_signals
from rehi.engines.local import LocalExecutor
from worker_tasks import busy, idle

if __name__ == "__main__":
    stop = stop_on_signals()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
    executor = LocalExecutor(2, timeout=60, memory=300_000_000)
    print(executor.submit(idle).result(), flush=True)
    work = [executor.submit(busy, path) for path in sys.argv[1:]]
    try:
        stop.wait()
        while not executor.submit(idle).result():  # what is still to be done is done by others
            pass
        executor.close()
        sys.exit(8)
    except KeyboardInterrupt:
        executor.close()
        sys.exit(9)
"""
TASKS = """
import os, pathlib, time

def idle():
    return os.getpid()

def busy(path):
    pathlib.Path(path).write_text(str(os.getpid()))
    while True:
        time.sleep(0.05)
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], set[int]]]:
    """A program of its own with two busy workers, and their process ids."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "worker_tasks.py").write_text(TASKS)
    marks = [tmp_path / "one", tmp_path / "two"]
    command = [sys.executable, str(tmp_path / "program.py"), *map(str, marks)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        wait_until(lambda: all(mark.exists() and mark.read_text() for mark in marks), what="both workers have begun")
        yield process, {int(mark.read_text()) for mark in marks}
        process.kill()


def test_workers_end_when_their_parent_is_killed(program: tuple[subprocess.Popen[str], set[int]]) -> None:
    process, workers = program
    assert all(is_running(worker) for worker in workers)
    process.kill()
    wait_until_gone(workers)


def test_ctrl_c_ends_the_program_without_a_word_from_its_workers(
    program: tuple[subprocess.Popen[str], set[int]],
) -> None:
    process, workers = program
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (9, "")
    wait_until_gone(workers)


def test_a_kill_of_the_whole_group_is_no_trouble_of_the_workers(
    program: tuple[subprocess.Popen[str], set[int]],
) -> None:
    process, workers = program
    os.killpg(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (8, "")
    wait_until_gone(workers)


@pytest.mark.parametrize(
    ("work", "arguments", "outcome"),
    [
        (greet, ("Mari",), (True, "Tere, Mari!")),
        (stumble, (), (False, ValueError)),
        (refuse, ("a picture",), (False, NotText)),
        (raise_stubborn, (), (False, ReaderCrashed)),
        (ask_to_exit, (), (False, ReaderCrashed)),
        (return_unpicklable, (), (False, AttributeError)),
    ],
)
def test_work_is_run_and_its_outcome_packed(work: Any, arguments: tuple[Any, ...], outcome: tuple[bool, Any]) -> None:
    """What a worker does with a task, done in this process."""
    fine, value = pickle.loads(local_worker.run_guarded(pickle.dumps((work, arguments, {})), PATIENCE))
    assert fine is outcome[0]
    assert value == outcome[1] if fine else type(value) is outcome[1]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("fault", [MemoryError(), OSError(12, "Cannot allocate memory")])
def test_work_that_gets_no_memory_is_too_large(fault: Exception) -> None:
    def raise_it(*_: object) -> None:
        raise fault

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pickle, "loads", raise_it)
        packed = local_worker.run_guarded(b"", PATIENCE)
    fine, error = pickle.loads(packed)
    assert not fine
    assert isinstance(error, ReadTooLarge)


def test_the_end_of_a_process_is_put_into_words() -> None:
    class Expired(Exception):
        exitcode = -signal.SIGSEGV

    assert local._exit_reason(Expired()) == "the process was killed by SIGSEGV"
    Expired.exitcode = 7
    assert local._exit_reason(Expired()) == "the process ended with code 7"
    assert local._exit_reason(ValueError("x")) == "the process died: ValueError: x"
