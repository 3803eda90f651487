"""A reader: a process that answers queries on the newest checkpoint, one at a time, until its pipe is closed.

Started as ``python -m rehi.engines.oxigraph.reader FOLDER BASE``. It is meant to be killed: at the deadline by its
parent, at the memory limit by the system, and by a signal when the parent has gone.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
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

from rehi.engines.oxigraph.checkpoints import hold_newest, numbers, path_of
from rehi.engines.oxigraph.frames import CHUNK, END, ERROR, READY, read_frame, write_frame
from rehi.engines.oxigraph.seal import seal
from rehi.engines.oxigraph.syntax import explain

_IN, _OUT = 0, 1
_GRACE = 2.0  # seconds after the deadline at which a reader ends itself, if nobody has
_RETIRE = 512 << 20  # bytes of memory once used after which a fresh process is cheaper than this one
_BUFFER = 1 << 16

# Strings, IRIs, comments, variables and names are passed over, so that only the keyword is found.
_FROM = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r"|<[^\s<>\"{}|^`\\]*>|#[^\r\n]*|[?$@]\w+|\w*:[\w:.\-]*|(?P<found>\bFROM\b)",
    re.IGNORECASE | re.DOTALL,
)


class Refused(Exception):
    """The query can't be answered, and why."""


class Snapshot:
    """The newest checkpoint, opened when it is new."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._held: int | None = None
        self._store: Store | None = None

    def store(self) -> Store:
        """The store of the newest checkpoint."""
        newest = max(numbers(self._folder), default=0)
        if self._store is None or newest > self._number:
            held = hold_newest(self._folder)
            if held is None:
                raise Refused("there is nothing to ask yet: no graph has been published")
            number, descriptor = held
            try:
                self._store = Store.read_only(str(path_of(self._folder, number)))
            except (OSError, RuntimeError):
                os.close(descriptor)
                raise
            if self._held is not None:
                os.close(self._held)
            self._number, self._held = number, descriptor
        return self._store


class Outlet:
    """As much of a file as a serialiser needs, which sends what is written as frames.

    Not a BufferedWriter: when an answer breaks off, that would still send what it holds, after the error.
    """

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, data: bytes) -> int:
        """Take some bytes, and send them when there are enough."""
        self._held += data
        if len(self._held) >= _BUFFER:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Send what is held."""
        if self._held:
            write_frame(_OUT, CHUNK, bytes(self._held))
            self._held.clear()


def answer(store: Store, question: dict[str, Any], base: str, outlet: IO[bytes]) -> None:
    """Write the answer to a question; Refused says why there is none."""
    text, media_type, rows = question["text"], question["media_type"], question["rows"]
    union = not any(found["found"] for found in _FROM.finditer(text))  # Oxigraph's union would overrule FROM
    result = store.query(text, base_iri=base, use_default_graph_as_union=union)
    if isinstance(result, QueryTriples):
        graph_format = RdfFormat.from_media_type(media_type)
        if graph_format is None:
            raise Refused(f"CONSTRUCT and DESCRIBE can't be answered as {media_type}")
        serialize(result if rows is None else islice(result, rows), outlet, graph_format)
        return
    table_format = QueryResultsFormat.from_media_type(media_type)
    if table_format is None:
        raise Refused(f"SELECT and ASK can't be answered as {media_type}")
    if isinstance(result, QuerySolutions) and rows is not None:
        result = first(result, rows)
    result.serialize(outlet, format=table_format)


def first(solutions: QuerySolutions, rows: int) -> QuerySolutions | QueryBoolean:
    """No more than so many of the solutions; through TSV, as solutions can't be made in any other way."""
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


def attempt(snapshot: Snapshot, question: dict[str, Any], base: str) -> tuple[bytes, bytes]:
    """Answer a question, and give the last frame."""
    outlet = Outlet()
    try:
        answer(snapshot.store(), question, base, cast("IO[bytes]", outlet))
        outlet.flush()
    except SyntaxError as error:
        return ERROR, _problem("query", explain(error, question["text"]))
    except Refused as error:
        return ERROR, _problem("query", str(error))
    except MemoryError:
        return ERROR, _problem("memory", "")
    except PermissionError:  # the seal
        return ERROR, _problem("query", "a query can't ask other servers by SERVICE; only what was harvested is here")
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        return ERROR, _problem("engine", f"the graph can't answer: {str(error)[:300]}")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return END, b"1" if used > _RETIRE else b""


def _problem(kind: str, message: str) -> bytes:
    return json.dumps({"kind": kind, "message": message}).encode()


def limit(question: dict[str, Any]) -> None:
    """Set the limits of one query: memory, and an alarm in case that nobody is left to watch the time."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = question["memory"] if hard == resource.RLIM_INFINITY else min(question["memory"], hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    signal.setitimer(signal.ITIMER_REAL, question["seconds"] + _GRACE)


def watch_parent(on: bool) -> None:
    """While a query runs, nothing comes through the pipe but its end: then the system ends this process by SIGIO."""
    flags = fcntl.fcntl(_IN, fcntl.F_GETFL)
    fcntl.fcntl(_IN, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)


def main(folder: str, base: str) -> None:
    """Answer until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    fcntl.fcntl(_IN, fcntl.F_SETOWN, os.getpid())
    seal()
    snapshot = Snapshot(Path(folder))
    write_frame(_OUT, READY)
    while True:
        try:
            _, payload = read_frame(lambda size: os.read(_IN, size))
        except EOFError:
            return
        question = json.loads(payload)
        limit(question)
        watch_parent(True)
        try:
            last, said = attempt(snapshot, question, base)
        except BrokenPipeError:
            return
        watch_parent(False)
        signal.setitimer(signal.ITIMER_REAL, 0)
        write_frame(_OUT, last, said)


if __name__ == "__main__":
    main(*sys.argv[1:])
