"""A reader process as its parent handles it: it is sent queries, timed, and killed when it must be."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO, NoReturn

from rehi.engines.oxigraph.frames import ASK, CHUNK, END, ERROR, HEAD, READY, read_frame
from rehi.errors import EngineError, GraphDamaged, GraphMissing, QueryError, QueryTimeout, QueryTooLarge
from rehi.ports import QueryLimits

LARGEST_ANSWER = 1 << 30  # bytes
_START = 60.0  # seconds that a start may take; 0.1 are usual, but a machine may be busy
_PIECE = 1 << 16
_NICE_WHEN_LONG = 15
_REPORTED = {"query": QueryError, "engine": EngineError, "damage": GraphDamaged, "missing": GraphMissing}


class ReaderProcess:
    """One process that answers one query after another."""

    def __init__(self, checkpoints: Path, base: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        self._ready = False
        self._usable = True
        self._turn_long: tuple[float, Callable[[], None]] | None = None  # at how much processor time, and whom to tell
        try:
            theirs, self._lifeline = os.pipe()  # nothing is ever sent through it: it is closed when this process ends
        except OSError as error:
            self._errors.close()
            raise _not_started(error) from error
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "rehi.engines.oxigraph.reader", str(checkpoints), base, str(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                pass_fds=(theirs,),
                start_new_session=True,  # Ctrl-C is for the parent
            )
        except OSError as error:
            self._errors.close()
            os.close(self._lifeline)
            raise _not_started(error) from error
        finally:
            os.close(theirs)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether it can take another query; False after a limit was reached, or when it has grown too large."""
        return self._usable and self._process.poll() is None

    def ask(
        self,
        text: str,
        *,
        media_type: str,
        limits: QueryLimits,
        into: IO[bytes],
        patience: float = 0.0,
        is_long: Callable[[], None] | None = None,
    ) -> float:
        """Send a query and write its whole answer to a file; return the seconds that it took.

        A query that has taken more than ``patience`` seconds of processor time is told to ``is_long``, once, which may raise.
        """
        self._usable = False
        self._await_ready()
        began = monotonic()
        deadline = began + limits.seconds
        self._turn_long = (self._spent() + patience, is_long) if is_long is not None else None
        request = {"text": text, "media_type": media_type, "seconds": limits.seconds}
        request |= {"memory": limits.memory, "rows": limits.rows}
        try:
            self._send(json.dumps(request).encode(), deadline)
            kind, payload = self._receive(into, deadline)
        except TimeoutError as error:
            raise _timeout(limits) from error
        except (EOFError, BrokenPipeError) as error:
            raise self._explain_exit(limits) from error
        self._usable = not (kind == END and payload)
        if kind == ERROR:
            _raise_reported(payload, limits)
        return monotonic() - began

    def make_way(self) -> None:
        """Lower the process's priority for good, so that others have the processors first."""
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self.pid, _NICE_WHEN_LONG)

    def kill(self) -> None:
        """End the process at once, also while somebody waits for its answer."""
        self._process.kill()

    def close(self) -> None:
        """End the process and close its pipes; nobody may be waiting for its answer."""
        self._process.kill()
        self._process.wait()
        for file in (self._in, self._out, self._errors):
            file.close()
        os.close(self._lifeline)

    def _await_ready(self) -> None:
        if self._ready:
            return
        try:
            kind, _ = read_frame(lambda most: self._read(most, monotonic() + _START))
        except (EOFError, TimeoutError) as error:
            raise EngineError(f"a process for queries does not start: {self._last_error_line()}") from error
        self._ready = kind == READY

    def _receive(self, into: IO[bytes], deadline: float) -> tuple[bytes, bytes]:
        """Write the answer to a file, and return the last frame, which says whether it is complete."""
        size = 0
        while True:
            kind, payload = read_frame(lambda most: self._read(most, deadline))
            if kind != CHUNK:
                return kind, payload
            size += len(payload)
            if size > LARGEST_ANSWER:
                raise QueryTooLarge(f"the answer is larger than {LARGEST_ANSWER:,} bytes; use a LIMIT")
            into.write(payload)

    def _send(self, payload: bytes, deadline: float) -> None:
        data = memoryview(HEAD.pack(ASK, len(payload)) + payload)
        while data:
            self._wait(self._in.fileno(), select.POLLOUT, deadline)
            try:
                data = data[os.write(self._in.fileno(), data) :]
            except BlockingIOError:
                continue

    def _read(self, most: int, deadline: float) -> bytes:
        self._wait(self._out.fileno(), select.POLLIN, deadline)
        return os.read(self._out.fileno(), min(most, _PIECE))

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        while self._turn_long is not None and monotonic() < deadline:
            spent, is_long = self._turn_long
            left = spent - self._spent()
            if left <= 0:
                self._turn_long = None
                is_long()
            elif poll.poll(min(left, deadline - monotonic()) * 1000 + 1):
                return
        if not poll.poll(max(deadline - monotonic(), 0) * 1000):
            raise TimeoutError

    def _spent(self) -> float:
        """Return the seconds of processor time that the process has taken; where it can't be had, those that have passed."""
        try:
            return time.clock_gettime(~self.pid << 3 | 2)  # the clock of another process, as Linux numbers it
        except (OSError, AttributeError):
            return monotonic()

    def _explain_exit(self, limits: QueryLimits) -> QueryError | EngineError:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return EngineError("a process for queries hung up")
        if code == -signal.SIGABRT:  # Rust aborts when it gets no memory
            return _too_large(limits)
        if code == -signal.SIGKILL:  # nothing in the process does this to itself
            return EngineError(
                "the process for the query was killed from outside, by a person or by a system short of memory; ask again"
            )
        if code == -signal.SIGALRM:
            return _timeout(limits)
        if code in (-signal.SIGSEGV, -signal.SIGBUS):
            return QueryError("the query broke its process; it may be nested too deeply")
        return EngineError(f"a process for queries ended (code {code}): {self._last_error_line()}")

    def _last_error_line(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "it said nothing"


def _not_started(error: OSError) -> EngineError:
    return EngineError(f"a process for queries can't be started: {error.strerror}")


def _raise_reported(payload: bytes, limits: QueryLimits) -> NoReturn:
    report = json.loads(payload)
    if report["kind"] == "memory":
        raise _too_large(limits)
    raise _REPORTED[report["kind"]](report["message"])


def _timeout(limits: QueryLimits) -> QueryTimeout:
    return QueryTimeout(
        f"the query took longer than {limits.seconds:g} s and was ended; "
        "ask for less (a more specific pattern, a LIMIT) or raise query.timeout"
    )


def _too_large(limits: QueryLimits) -> QueryTooLarge:
    return QueryTooLarge(
        f"the query wanted more than {limits.memory / 1e6:,.0f} MB of memory and was ended; "
        "ask for less (a more specific pattern, no ORDER BY over everything) or raise query.memory"
    )
