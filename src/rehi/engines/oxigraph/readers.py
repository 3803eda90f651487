"""Readers: a small pool of processes that answer queries on checkpoints, and the published graph, which has nothing else."""

from __future__ import annotations

import errno
import os
import shutil
from collections import deque
from collections.abc import Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from tempfile import SpooledTemporaryFile
from threading import BoundedSemaphore, Condition, Lock
from time import monotonic
from typing import IO

from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from rehi.engines.oxigraph import checkpoints
from rehi.engines.oxigraph.process import ReaderProcess
from rehi.errors import Busy, DiskFull, EngineError, GraphDamaged, RehiError
from rehi.ports import GraphChange, PublishedFiles, QueryAnswer, QueryLimits

_IN_MEMORY = 4 << 20  # bytes of an answer; what is larger goes to a file
_PIECE = 1 << 16
_SHORT_SECONDS = 0.15  # of processor time, after which a query counts as one that takes long
_SHORT_PER_PLACE = 4  # a look-up shares the processors with others rather than wait for them
_WAITING_PER_PLACE = 4
_CLOSE_SECONDS = 5.0


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

    Every query begins as a short one, for which there are some places. One that is not answered after a moment leaves its
    place to the next: it goes on as a long one, if one of ``workers`` places for these is free, and otherwise begins again
    when one is. So look-ups are answered beside whatever takes long.
    """

    def __init__(self, checkpoints: Path, *, base: str, workers: int = 2) -> None:
        self._checkpoints = checkpoints
        self._base = base.rstrip("/") + "/"
        self._workers = workers
        self._lock = Lock()
        self._ended = Condition(self._lock)
        self._closed = False
        self._live: set[ReaderProcess] = set()
        self._idle: deque[ReaderProcess] = deque()  # the warmest last
        self._short = BoundedSemaphore(workers * _SHORT_PER_PLACE)
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
        except RehiError as error:
            file.close()
            if isinstance(error, GraphDamaged):
                checkpoints.note_damage(self._checkpoints, str(error))
            raise
        return QueryAnswer(media_type=media_type, chunks=AnswerChunks(file), seconds=seconds)

    def verify(self) -> Iterator[str]:
        """Read every table of the newest checkpoint, and yield what is wrong with them."""
        from rehi.engines.oxigraph.tables import read_tables

        return read_tables(self._checkpoints)

    def close(self) -> None:
        """End all processes, also those that answer a query."""
        with self._lock:
            self._closed = True
            for reader in self._live:
                reader.kill()
        self._end_idle()
        with self._ended:  # those who waited for an answer put their processes away
            self._ended.wait_for(lambda: not self._live, timeout=_CLOSE_SECONDS)

    def _answer(self, text: str, media_type: str, limits: QueryLimits, file: IO[bytes]) -> float:
        if not self._short.acquire(timeout=limits.seconds):
            raise Busy(f"all places for queries were taken for {limits.seconds:g} s")
        place, deadline = self._short, monotonic() + limits.seconds
        reader: ReaderProcess | None = None

        def turn_long() -> None:
            nonlocal place
            if not self._long.acquire(blocking=False):
                raise _NoPlace
            place = self._long
            self._short.release()
            self._make_way(reader)

        try:
            reader = self._take()
            return reader.ask(
                text, media_type=media_type, limits=limits, into=file, patience=_SHORT_SECONDS, is_long=turn_long
            )
        except _NoPlace:
            file.seek(0)
            file.truncate()
        finally:
            if reader is not None:
                self._put_back(reader, used_up=place is self._long)
            place.release()
        return self._answer_later(text, media_type, limits, file, deadline)

    def _answer_later(self, text: str, media_type: str, limits: QueryLimits, file: IO[bytes], deadline: float) -> float:
        """Answer a query that takes long from its beginning when there is a place for it; Busy if too many wait for one."""
        if not self._waiting.acquire(blocking=False):
            raise Busy("too many queries that take long are waiting already")
        try:
            if not self._long.acquire(timeout=max(deadline - monotonic(), 0)):
                raise Busy(f"all {self._workers} places for queries that take long were taken")
        finally:
            self._waiting.release()
        reader: ReaderProcess | None = None
        try:
            reader = self._take()
            self._make_way(reader)
            rest = replace(limits, seconds=max(deadline - monotonic(), _SHORT_SECONDS))
            return reader.ask(text, media_type=media_type, limits=rest, into=file)
        finally:
            if reader is not None:
                self._put_back(reader, used_up=True)
            self._long.release()

    def _take(self) -> ReaderProcess:
        """Return an idle process, or a new one; EngineError if none can be started."""
        while True:
            with self._lock:
                reader = self._idle.pop() if self._idle else None
            if reader is None:
                return self._start()
            if reader.is_usable:
                return reader
            self._end(reader)

    def _put_back(self, reader: ReaderProcess, *, used_up: bool) -> None:
        """Make a process idle; in the place of one that is used up a new one is started, so that it is ready when needed."""
        with self._lock:
            if reader.is_usable and not used_up and not self._closed:
                self._idle.append(reader)
                return
        self._end(reader)
        self._start_ahead()

    def _make_way(self, reader: ReaderProcess | None) -> None:
        """Lower the priority of a process that works on a long query, and start another one in its place."""
        if reader is not None:
            reader.make_way()
        self._start_ahead()

    def _start_ahead(self) -> None:
        if len(self._idle) < self._workers:
            with suppress(EngineError):  # closed, or no process can be started now; the next query raises the error
                self._idle.appendleft(self._start())
            if self._closed:
                self._end_idle()

    def _end_idle(self) -> None:
        while True:
            with self._lock:
                if not self._idle:
                    return
                reader = self._idle.pop()
            self._end(reader)

    def _start(self) -> ReaderProcess:
        with self._lock:
            if self._closed:
                raise EngineError("the graph is closed")
            reader = ReaderProcess(self._checkpoints, self._base)
            self._live.add(reader)
            return reader

    def _end(self, reader: ReaderProcess) -> None:
        reader.close()
        with self._ended:
            self._live.discard(reader)
            self._ended.notify_all()


class _NoPlace(Exception):
    """A query takes long, and there is no place for it now."""


def _translate(error: OSError) -> RehiError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("there is no room on the disk for the answer")
    return EngineError(f"the answer can't be kept: {error.strerror or error}")


@contextmanager
def hold_checkpoint(folder: Path) -> Iterator[PublishedFiles | None]:
    """Hold the newest checkpoint, so that it is not removed meanwhile; gives None if there is none."""
    newest = checkpoints.hold_newest(folder)
    if newest is None:
        yield None
        return
    number, descriptor = newest
    try:
        yield PublishedFiles(checkpoints.path_of(folder, number), number)
    finally:
        os.close(descriptor)


class PublishedGraph(OxigraphReaders):
    """Port ``Graph`` for queries only, on the newest checkpoint in a graph's folder."""

    shared = False  # it lies in a folder of one machine

    def __init__(self, folder: Path, *, base: str, workers: int = 2) -> None:
        super().__init__(folder / "checkpoints", base=base, workers=workers)
        self._folder = folder

    def write(self, changes: Sequence[GraphChange]) -> None:
        """Raise EngineError: only the one writer writes."""
        raise EngineError(f"the graph in {self._folder} was opened for queries only")

    def read(self, graph: NamedNode) -> Set[Triple]:
        """Return all that a named graph says, as it was published; nothing if nothing was."""
        if why := self.find_damage():
            raise GraphDamaged(f"the graph in {self._folder} is damaged: {why}")
        if not checkpoints.numbers(self._checkpoints):
            return frozenset()
        query = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH {graph} {{ ?s ?p ?o }} }}"
        try:
            answer = self.query(query, media_type="application/n-triples", limits=QueryLimits())
        except EngineError as error:
            raise GraphDamaged(str(error)) from error
        return {quad.triple for quad in parse(b"".join(answer.chunks), format=RdfFormat.N_TRIPLES)}

    def find_damage(self) -> str:
        """Return what readers have met; empty if they have met nothing."""
        return checkpoints.noted_damage(self._checkpoints)

    def renew(self) -> str:
        """Raise EngineError: only the one writer begins a graph."""
        raise EngineError(f"the graph in {self._folder} was opened for queries only")

    def publish(self) -> None:
        """Do nothing: nothing can have been written here."""

    def hold_published(self) -> AbstractContextManager[PublishedFiles | None]:
        """Hold the newest checkpoint, which stays as it is meanwhile."""
        return hold_checkpoint(self._checkpoints)

    def restore(self, folder: Path) -> None:
        """Let a checkpoint that was copied be the store, and the one that queries see."""
        try:
            if self._folder.exists():
                checkpoints.set_aside(self._folder)
            self._checkpoints.mkdir(parents=True)
            shutil.move(folder, self._folder / "store")
            checkpoints.copy_store(self._folder / "store", self._checkpoints)
        except OSError as error:
            raise EngineError(f"the graph in {self._folder} can't be replaced: {error.strerror or error}") from error

    def size(self) -> int:
        """Return the number of published triples."""
        if not checkpoints.numbers(self._checkpoints):
            return 0
        answer = self.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", media_type="text/csv", limits=QueryLimits())
        return int(b"".join(answer.chunks).split()[1])

    def check(self) -> str:
        """Return one line on the engine; statements are not counted, which takes long where there are many."""
        number = checkpoints.last_number(self._checkpoints)
        return f"Oxigraph {version('pyoxigraph')} at {self._folder}, published {number:,} times"
