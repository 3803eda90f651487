"""A reader: a process that answers queries on the newest checkpoint, one at a time, until its pipe is closed.

Started as ``python -m rehi.engines.oxigraph.reader FOLDER BASE LIFELINE``; the last is the descriptor of a pipe that is open as
long as its parent lives. It is meant to be killed: at the deadline by its parent, at the memory limit by the system, and by a
signal when the parent has gone.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import select
import signal
import sys
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from pyoxigraph import (
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Store,
    parse_query_results,
    serialize,
)

from rehi.engines.oxigraph.checkpoints import hold_newest, last_number, path_of
from rehi.engines.oxigraph.frames import CHUNK, END, ERROR, READY, read_frame, write_frame
from rehi.engines.oxigraph.sandbox import forbid_sockets
from rehi.engines.oxigraph.syntax import explain

_IN, _OUT = 0, 1
_GRACE = 2.0  # seconds after the deadline at which a reader ends itself, if nobody has
_RETIRE = 512 << 20  # bytes of memory once used after which a fresh process is cheaper than this one
_BUFFER = 1 << 16
_DAMAGED = ("Corruption:", "IO error: No such file")  # how RocksDB's words for it begin

# Strings, IRIs, comments, variables and names are matched first, so that only the keyword FROM is in the group.
_FROM = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r"|<[^\s<>\"{}|^`\\]*>|#[^\r\n]*|[?$@]\w+|\w*:[\w:.\-]*|(?P<from>\bFROM\b)",
    re.IGNORECASE | re.DOTALL,
)


class QueryRefused(Exception):
    """A query can't be answered; the message says why."""


class NothingPublished(Exception):
    """There is no checkpoint."""


class NewestCheckpoint:
    """The newest checkpoint of a folder, opened again when there is a newer one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._held: int | None = None
        self._store: Store | None = None

    def store(self) -> Store:
        """Return the store of the newest checkpoint; NothingPublished if there is none."""
        newest = last_number(self._folder)
        if self._store is None or newest != self._number:  # another number: it may have been begun anew
            held = hold_newest(self._folder)
            if held is None:
                raise NothingPublished(
                    "there is nothing to ask: no graph has been published yet, or its files are gone"
                )
            if self._held is not None:
                os.close(self._held)
            self._store = None
            self._number, self._held = held
            self._store = Store.read_only(str(path_of(self._folder, self._number)))
        return self._store

    def is_damaged(self, error: Exception) -> bool:
        """Whether an error means that files are damaged, and not that all of the graph was just set aside."""
        if isinstance(error, ValueError) or not str(error).startswith(_DAMAGED) or self._held is None:
            return False
        try:
            return path_of(self._folder, self._number).stat().st_ino == os.fstat(self._held).st_ino
        except OSError:
            return False


class FrameWriter:
    """A file for serialisers that sends what is written as frames.

    Not a BufferedWriter: when an answer breaks off, that would still send what it holds, after the error.
    """

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, data: bytes) -> int:
        """Collect bytes, and send them when there are enough for a frame."""
        self._held += data
        if len(self._held) >= _BUFFER:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Send the collected bytes."""
        if self._held:
            write_frame(_OUT, CHUNK, bytes(self._held))
            self._held.clear()


def answer(store: Store, request: dict[str, Any], base: str, frames: IO[bytes]) -> None:
    """Write the answer to a query; QueryRefused if it can't be answered."""
    text, media_type, rows = request["text"], request["media_type"], request["rows"]
    union = not any(match["from"] for match in _FROM.finditer(text))  # Oxigraph's union would overrule FROM
    result = store.query(text, base_iri=base, use_default_graph_as_union=union)
    if isinstance(result, QueryTriples):
        graph_format = RdfFormat.from_media_type(media_type)
        if graph_format is None:
            raise QueryRefused(f"CONSTRUCT and DESCRIBE can't be answered as {media_type}")
        serialize(result if rows is None else islice(result, rows), frames, graph_format)
        return
    table_format = QueryResultsFormat.from_media_type(media_type)
    if table_format is None:
        raise QueryRefused(f"SELECT and ASK can't be answered as {media_type}")
    if isinstance(result, QuerySolutions) and rows is not None:
        result = first_rows(result, rows)
    result.serialize(frames, format=table_format)


def first_rows(solutions: QuerySolutions, rows: int) -> QuerySolutions | QueryBoolean:
    """Return the first ``rows`` solutions; by way of TSV, as solutions can't be made in any other way."""
    names = [str(variable) for variable in solutions.variables]
    if not names:
        return solutions
    table = BytesIO()
    table.write(("\t".join(names) + "\n").encode())
    for solution in islice(solutions, rows):
        table.write(("\t".join("" if term is None else str(term) for term in solution) + "\n").encode())
    parsed = parse_query_results(table.getvalue(), QueryResultsFormat.TSV)
    assert not isinstance(parsed, QueryTriples)
    return parsed


def try_answer(checkpoint: NewestCheckpoint, request: dict[str, Any], base: str) -> tuple[bytes, bytes]:
    """Write the answer to a query; return kind and payload of the frame that ends it."""
    frames = FrameWriter()
    try:
        answer(checkpoint.store(), request, base, cast("IO[bytes]", frames))
        frames.flush()
    except SyntaxError as error:
        return ERROR, _error_payload("query", explain(error, request["text"]))
    except QueryRefused as error:
        return ERROR, _error_payload("query", str(error))
    except MemoryError:
        return ERROR, _error_payload("memory", "")
    except PermissionError:  # sockets are forbidden
        return ERROR, _error_payload(
            "query", "a query can't ask other servers by SERVICE; only what was harvested is here"
        )
    except BrokenPipeError:
        raise
    except NothingPublished as error:
        return ERROR, _error_payload("missing", str(error))
    except (OSError, RuntimeError, ValueError) as error:
        kind = "damage" if checkpoint.is_damaged(error) else "engine"
        return ERROR, _error_payload(kind, f"the graph can't answer: {str(error)[:300]}")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return END, b"1" if used > _RETIRE else b""


def _error_payload(kind: str, message: str) -> bytes:
    return json.dumps({"kind": kind, "message": message}).encode()


def limit(request: dict[str, Any]) -> None:
    """Set the limits of one query: memory, and an alarm in case the parent has ended and nobody watches the time."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = request["memory"] if hard == resource.RLIM_INFINITY else min(request["memory"], hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    signal.setitimer(signal.ITIMER_REAL, request["seconds"] + _GRACE)


def watch_parent(lifeline: int) -> None:
    """Have SIGIO end this process when its parent has ended, whatever it is doing.

    The pipe of the queries would not do: who writes to a pipe sends the signal after its reader may have got all that was written.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it ended before
        sys.exit()


def main(folder: str, base: str, lifeline: str) -> None:
    """Answer queries until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    watch_parent(int(lifeline))
    forbid_sockets()
    checkpoint = NewestCheckpoint(Path(folder))
    write_frame(_OUT, READY)
    while True:
        try:
            _, payload = read_frame(lambda size: os.read(_IN, size))
        except EOFError:
            return
        request = json.loads(payload)
        limit(request)
        try:
            kind, payload = try_answer(checkpoint, request, base)
        except BrokenPipeError:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        write_frame(_OUT, kind, payload)


if __name__ == "__main__":
    main(*sys.argv[1:])
