"""Readers: a small pool of processes that answer queries on checkpoints, and the published graph, which has nothing else."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from queue import Empty, LifoQueue
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import IO

from rehi.engines.oxigraph import checkpoints
from rehi.engines.oxigraph.process import ReaderProcess
from rehi.errors import DiskFull, EngineError, QueryTimeout, RehiError
from rehi.ports import GraphChange, QueryAnswer, QueryLimits

_IN_MEMORY = 4 << 20  # bytes of an answer; what is larger goes to a file
_PIECE = 1 << 16


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

    def query(self, text: str, *, media_type: str, limits: QueryLimits) -> QueryAnswer:
        """Answer a query over the union of all graphs; QueryError, QueryTimeout or QueryTooLarge if it can't be."""
        with self._borrow(limits.seconds) as reader:
            file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
            try:
                seconds = reader.ask(text, media_type=media_type, limits=limits, into=file)
                return QueryAnswer(media_type=media_type, chunks=AnswerChunks(file), seconds=seconds)
            except OSError as error:
                file.close()
                raise _translate(error) from error
            except RehiError:
                file.close()
                raise

    def close(self) -> None:
        """End all processes, also those that answer a query."""
        with self._lock:
            self._closed = True
            for reader in self._live:
                reader.kill()
        for _ in range(self._idle.qsize()):
            if (idle := self._idle.get()) is not None:
                self._end(idle)

    @contextmanager
    def _borrow(self, timeout: float) -> Iterator[ReaderProcess]:
        try:
            reader = self._idle.get(timeout=timeout)
        except Empty:
            raise QueryTimeout(
                f"all {self._workers} processes for queries were busy for {timeout:g} s; "
                "try again, or raise query.workers"
            ) from None
        try:
            if reader is not None and not reader.is_usable:
                self._end(reader)
                reader = None
            if reader is None:
                reader = self._start()
            yield reader
        finally:
            self._idle.put(self._replacement(reader))

    def _replacement(self, reader: ReaderProcess | None) -> ReaderProcess | None:
        """Return the process to put back into the pool: the one that was used, or a new one if it is used up."""
        if reader is None or (reader.is_usable and not self._closed):
            return reader
        self._end(reader)
        try:
            return self._start()
        except EngineError:  # closed, or no process can be started now; the next query tries again and raises the error
            return None

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


def _translate(error: OSError) -> RehiError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("there is no room on the disk for the answer")
    return EngineError(f"the answer can't be kept: {error.strerror or error}")


class PublishedGraph(OxigraphReaders):
    """Port ``Graph`` for queries only, on the newest checkpoint in a graph's folder."""

    shared = False  # it lies in a folder of one machine

    def __init__(self, folder: Path, *, base: str, workers: int = 2) -> None:
        super().__init__(folder / "checkpoints", base=base, workers=workers)
        self._folder = folder

    def write(self, changes: Sequence[GraphChange]) -> None:
        """Raise EngineError: only the one writer writes."""
        raise EngineError(f"the graph in {self._folder} was opened for queries only")

    def publish(self) -> None:
        """Do nothing: nothing can have been written here."""

    def size(self) -> int:
        """Return the number of published triples."""
        if not checkpoints.numbers(self._checkpoints):
            return 0
        answer = self.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", media_type="text/csv", limits=QueryLimits())
        return int(b"".join(answer.chunks).split()[1])

    def check(self) -> str:
        """Return one line on the engine and its size."""
        return f"Oxigraph {version('pyoxigraph')}, {self.size():,} statements published in {self._folder}"
