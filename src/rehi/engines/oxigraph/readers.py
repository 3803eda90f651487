"""Readers: a small pool of processes that answer queries on checkpoints."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, LifoQueue
from tempfile import SpooledTemporaryFile
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import IO

from rehi.engines.oxigraph.process import ReaderProcess
from rehi.errors import Busy, DiskFull, EngineError, RehiError
from rehi.ports import QueryAnswer, QueryLimits

_IN_MEMORY = 4 << 20  # bytes of an answer; what is larger goes to a file
_PIECE = 1 << 16
_SHORT_SECONDS = 0.3  # after which a query counts as one that takes long
_WAITING_PER_PLACE = 4


class AnswerChunks(Iterator[bytes]):
    """A complete answer, given out piece by piece from a temporary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        file.seek(0)

    def __next__(self) -> bytes:
        piece = b"" if self._file.closed else self._file.read(_PIECE)
        if piece:
            return piece
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()

    def __del__(self) -> None:
        self.close()


class OxigraphReaders:
    """Answers queries on the newest checkpoint of a folder, in a pool of processes.

    An answer is complete before its first byte is given out. So a query that runs into a limit ends in an error and
    never in half an answer, and a client that takes an answer slowly keeps no process busy.

    Every query begins as a short one, in one of ``workers`` places. One that is not answered after a moment leaves its
    place to the next: it goes on as a long one, if one of as many places for these is free, and otherwise begins again
    when one is. So look-ups are answered beside whatever takes long.
    """

    def __init__(self, checkpoints: Path, *, base: str, workers: int = 2) -> None:
        self._checkpoints = checkpoints
        self._base = base.rstrip("/") + "/"
        self._workers = workers
        self._lock = Lock()
        self._closed = False
        self._live: set[ReaderProcess] = set()
        self._idle: LifoQueue[ReaderProcess | None] = LifoQueue()  # the last used is the warmest
        for _ in range(workers):
            self._idle.put(None)
        self._long = BoundedSemaphore(workers)
        self._waiting = BoundedSemaphore(workers * _WAITING_PER_PLACE)  # long queries without a place

    def query(self, text: str, *, media_type: str, limits: QueryLimits) -> QueryAnswer:
        """Answer a query over the union of all graphs; QueryError, QueryTimeout, QueryTooLarge or Busy if it can't be."""
        file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        try:
            seconds = self._answer(text, media_type, limits, file)
        except OSError as error:
            file.close()
            raise _translate(error) from error
        except RehiError:
            file.close()
            raise
        return QueryAnswer(media_type=media_type, chunks=AnswerChunks(file), seconds=seconds)

    def _answer(self, text: str, media_type: str, limits: QueryLimits, file: IO[bytes]) -> float:
        deadline = monotonic() + limits.seconds
        place = self._borrow(limits.seconds)
        try:
            return place.reader.ask(
                text, media_type=media_type, limits=limits, into=file, patience=_SHORT_SECONDS, is_long=place.turn_long
            )
        except _NoPlace:
            file.seek(0)
            file.truncate()
        finally:
            place.leave()
        with self._long_place(deadline) as reader:
            rest = replace(limits, seconds=max(deadline - monotonic(), _SHORT_SECONDS))
            return reader.ask(text, media_type=media_type, limits=rest, into=file)

    def close(self) -> None:
        """End all processes, also those that answer a query."""
        with self._lock:
            self._closed = True
            for reader in self._live:
                reader.kill()
        idle: list[ReaderProcess | None] = []
        with suppress(Empty):
            while True:
                idle.append(self._idle.get_nowait())
        for reader in filter(None, idle):
            self._end(reader)
        for _ in idle:
            self._idle.put(None)  # whoever waits for a place learns that the graph is closed

    def _borrow(self, timeout: float) -> _Place:
        """Return a place for a short query, with a process in it; Busy if none becomes free."""
        try:
            reader = self._idle.get(timeout=timeout)
        except Empty:
            raise Busy(f"all {self._workers} places for queries were taken for {timeout:g} s") from None
        try:
            if reader is not None and not reader.is_usable:
                self._end(reader)
                reader = None
            return _Place(self, reader or self._start())
        except BaseException:
            self._idle.put(None)
            raise

    @contextmanager
    def _long_place(self, deadline: float) -> Iterator[ReaderProcess]:
        """A process of its own for a long query, when there is a place for it; Busy if too many wait for one."""
        if not self._waiting.acquire(blocking=False):
            raise Busy("too many queries that take long are waiting already")
        try:
            if not self._long.acquire(timeout=max(deadline - monotonic(), 0)):
                raise Busy(f"all {self._workers} places for queries that take long were taken")
        finally:
            self._waiting.release()
        reader = None
        try:
            reader = self._start()
            reader.make_way()
            yield reader
        finally:
            if reader is not None:
                self._end(reader)
            self._long.release()

    def _put_back(self, reader: ReaderProcess) -> None:
        """Put a process back into the pool, or a new one if it is used up."""
        if not reader.is_usable or self._closed:
            self._end(reader)
            try:
                reader = self._start()
            except (
                EngineError
            ):  # closed, or no process can be started now; the next query tries again and raises the error
                self._idle.put(None)
                return
        self._idle.put(reader)

    def _start(self) -> ReaderProcess:
        with self._lock:
            if self._closed:
                raise EngineError("the graph is closed")
            reader = ReaderProcess(self._checkpoints, self._base)
            self._live.add(reader)
            return reader

    def _end(self, reader: ReaderProcess) -> None:
        with self._lock:
            self._live.discard(reader)
        reader.close()


class _NoPlace(Exception):
    """A query takes long, and there is no place for it now."""


class _Place:
    """The place of one query, first among the short ones."""

    def __init__(self, readers: OxigraphReaders, reader: ReaderProcess) -> None:
        self._readers = readers
        self.reader = reader
        self._is_long = False

    def turn_long(self) -> None:
        """Leave the place among the short ones to the next query; _NoPlace if there is none among the long ones."""
        if not self._readers._long.acquire(blocking=False):
            raise _NoPlace
        self._is_long = True
        self.reader.make_way()
        self._readers._idle.put(None)

    def leave(self) -> None:
        """Free the place."""
        if self._is_long:
            self._readers._end(self.reader)
            self._readers._long.release()
        else:
            self._readers._put_back(self.reader)


def _translate(error: OSError) -> RehiError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("there is no room on the disk for the answer")
    return EngineError(f"the answer can't be kept: {error.strerror or error}")
