"""The reader of the graph, in this process: what it answers, what it refuses, and how its end is understood."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store

from rehi.engines.oxigraph import frames, process, reader
from rehi.engines.oxigraph.reader import (
    FrameWriter,
    NewestCheckpoint,
    NothingPublished,
    QueryRefused,
    answer,
    first_rows,
    try_answer,
)
from rehi.engines.oxigraph.readers import AnswerChunks, _translate
from rehi.engines.oxigraph.store import OxigraphStore
from rehi.engines.oxigraph.syntax import explain
from rehi.errors import DiskFull, EngineError, GraphDamaged, QueryError, QueryTimeout, QueryTooLarge
from rehi.ports import QueryLimits, ReplaceGraph
from rehi.testing.contracts.graph import node, says, tell

BASE = "http://rehi.localhost/"
ALL = "SELECT ?o { ?s ?p ?o } ORDER BY ?o"


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graph")
    store = OxigraphStore(folder, base=BASE)
    tell(store, ReplaceGraph(node("g"), tuple(says("a", "p", text) for text in ("x", "y", "z"))))
    tell(store, ReplaceGraph(node("h"), (says("a", "p", "v"), says("b", "p", "w"))))
    store.close()
    return folder / "checkpoints"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[tuple[bytes, bytes]]]:
    """The frames that have been sent through the reader's pipe."""
    out, into = os.pipe()
    monkeypatch.setattr(reader, "_OUT", into)

    def take() -> list[tuple[bytes, bytes]]:
        os.close(into)
        taken = []
        with os.fdopen(out, "rb") as stream:
            while stream.peek(1):
                taken.append(frames.read_frame(stream.read))
        return taken

    return take


def ask(text: str, media_type: str = "text/csv", rows: int | None = None) -> dict[str, Any]:
    return {"text": text, "media_type": media_type, "rows": rows, "seconds": 30, "memory": 1 << 30}


def answered(checkpoints: Path, **asked: Any) -> bytes:
    into = BytesIO()
    answer(NewestCheckpoint(checkpoints).store(), ask(**asked), BASE, into)
    return into.getvalue()


def test_a_query_goes_over_the_union_of_all_graphs_unless_it_names_some(checkpoints: Path) -> None:
    assert answered(checkpoints, text=ALL) == b"o\r\nv\r\nw\r\nx\r\ny\r\nz\r\n"
    assert answered(checkpoints, text=f"SELECT ?o FROM {node('h')} {{ ?s ?p ?o }} ORDER BY ?o") == b"o\r\nv\r\nw\r\n"
    assert answered(checkpoints, text='SELECT ?from { ?s ?p ?from FILTER(?from = "y") } # FROM') == b"from\r\ny\r\n"


def test_no_more_rows_are_given_than_were_asked_for(checkpoints: Path) -> None:
    assert answered(checkpoints, text=ALL, rows=2) == b"o\r\nv\r\nw\r\n"
    construct = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
    lines = answered(checkpoints, text=construct, media_type="application/n-triples", rows=2).splitlines()
    assert len(lines) == 2
    assert answered(checkpoints, text="ASK { ?s ?p ?o }", media_type="text/csv", rows=1) == b"true"


def test_rows_keep_their_kinds_and_what_is_unbound() -> None:
    store = Store()
    store.add(Quad(NamedNode("a:b"), NamedNode("a:p"), Literal('tõde\t"', language="et")))
    solutions = store.query("SELECT ?s ?o ?none { ?s ?p ?o }")
    assert isinstance(solutions, QuerySolutions)
    rows = first_rows(solutions, 5)
    assert isinstance(rows, QuerySolutions)
    (row,) = list(rows)
    assert (row["s"], row["o"], row["none"]) == (NamedNode("a:b"), Literal('tõde\t"', language="et"), None)
    nothing = store.query("SELECT * {}")
    assert isinstance(nothing, QuerySolutions)
    assert first_rows(nothing, 5) is nothing


@pytest.mark.parametrize(
    ("text", "media_type", "sentence"),
    [
        ("ASK {}", "text/turtle", "SELECT and ASK can't be answered as text/turtle"),
        ("DESCRIBE <a:b>", "text/csv", "CONSTRUCT and DESCRIBE can't be answered as text/csv"),
    ],
)
def test_what_can_not_be_written_in_a_format_is_refused(
    checkpoints: Path, text: str, media_type: str, sentence: str
) -> None:
    with pytest.raises(QueryRefused, match=sentence):
        answered(checkpoints, text=text, media_type=media_type)


def test_an_answer_goes_through_the_pipe_in_frames(
    checkpoints: Path, sent: Callable[[], list[tuple[bytes, bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_RETIRE", 1 << 50)  # other tests in this process may have used much memory
    assert try_answer(NewestCheckpoint(checkpoints), ask(ALL), BASE) == (frames.END, b"")
    assert sent() == [(frames.CHUNK, b"o\r\nv\r\nw\r\nx\r\ny\r\nz\r\n")]


def test_a_full_buffer_is_sent_before_the_end(
    sent: Callable[[], list[tuple[bytes, bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_BUFFER", 10)
    writer = FrameWriter()
    assert [writer.write(b"abcdef") for _ in range(3)] == [6, 6, 6]
    writer.flush()
    writer.flush()
    assert sent() == [(frames.CHUNK, b"abcdefabcdef"), (frames.CHUNK, b"abcdef")]


@pytest.mark.parametrize(
    ("text", "media_type", "kind", "words"),
    [
        ("SELECT", "text/csv", "query", "the query can't be read"),
        ("ASK {}", "text/turtle", "query", "can't be answered as"),
        (ALL, "no/such", "query", "can't be answered as no/such"),
    ],
)
def test_a_query_that_is_refused_ends_in_a_sentence(
    checkpoints: Path, text: str, media_type: str, kind: str, words: str
) -> None:
    frame, payload = try_answer(NewestCheckpoint(checkpoints), ask(text, media_type), BASE)
    report = json.loads(payload)
    assert (frame, report["kind"]) == (frames.ERROR, kind)
    assert words in report["message"]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (MemoryError(), "memory"),
        (PermissionError(13, "no sockets"), "query"),
        (OSError(5, "broken disk"), "engine"),
        (ValueError("damaged"), "engine"),
    ],
)
def test_whatever_goes_wrong_is_reported_as_what_it_is(tmp_path: Path, fault: Exception, kind: str) -> None:
    class Broken(NewestCheckpoint):
        def store(self) -> Store:
            raise fault

    frame, payload = try_answer(Broken(tmp_path), ask(ALL), BASE)
    assert (frame, json.loads(payload)["kind"]) == (frames.ERROR, kind)


def test_a_parent_that_has_gone_ends_the_answer(tmp_path: Path) -> None:
    class Gone(NewestCheckpoint):
        def store(self) -> Store:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        try_answer(Gone(tmp_path), ask(ALL), BASE)


def test_the_newest_checkpoint_is_opened_again_when_there_is_a_newer_one(tmp_path: Path) -> None:
    with pytest.raises(NothingPublished, match="nothing to ask"):
        NewestCheckpoint(tmp_path).store()
    store = OxigraphStore(tmp_path, base=BASE)
    newest = NewestCheckpoint(tmp_path / "checkpoints")
    first = newest.store()
    assert newest.store() is first
    assert len(first) == 0
    tell(store, ReplaceGraph(node("g"), (says("a", "p", "x"),)))
    assert len(newest.store()) == 1
    store.close()


def test_a_query_is_limited_in_memory_and_by_an_alarm() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        reader.limit({"memory": 1 << 40, "seconds": 500})
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] == 1 << 40
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 502
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_DATA, before)


@pytest.mark.parametrize(
    ("message", "text", "sentence"),
    [
        ("something else", "SELECT", "the query can't be read: something else"),
        ('error at 1:8: expected "{"', "SELECT ?x", "line 1, column 8, in 'SELECT ?x' ({ is missing)"),
        ("error at 2:3: expected one of a, Prefix not found", "SELECT\nfoo:x", "(prefix not found)"),
        ("error at 1:3: expected one of a, b", "PREFIX a: <b:> SELECT", "at or before line 1, in"),
        ("error at 9:99: ", "SELECT", "line 9, column 7, in 'SELECT'"),
    ],
)
def test_a_syntax_error_is_explained(message: str, text: str, sentence: str) -> None:
    assert sentence in explain(SyntaxError(message), text)


def test_frames_end_with_the_pipe() -> None:
    out, into = os.pipe()
    frames.write_frame(into, frames.ASK, b"tere")
    os.write(into, b"X\0")
    os.close(into)
    with os.fdopen(out, "rb", buffering=0) as stream:
        assert frames.read_frame(lambda size: stream.read(min(size, 2)) or b"") == (frames.ASK, b"tere")
        with pytest.raises(EOFError):
            frames.read_frame(lambda size: stream.read(size) or b"")


@pytest.mark.parametrize(
    ("report", "kind"),
    [("memory", QueryTooLarge), ("engine", EngineError), ("query", QueryError), ("damage", GraphDamaged)],
)
def test_a_report_becomes_the_error_that_it_tells_of(report: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        process._raise_reported(json.dumps({"kind": report, "message": "so it is"}).encode(), QueryLimits())


@pytest.mark.parametrize(
    ("number", "kind", "sentence"),
    [
        (signal.SIGABRT, QueryTooLarge, "more than"),
        (signal.SIGALRM, QueryTimeout, "took longer than"),
        (signal.SIGSEGV, QueryError, "nested too deeply"),
        (signal.SIGTERM, EngineError, "it said nothing"),
        (signal.SIGKILL, EngineError, "killed from outside"),
    ],
)
def test_the_end_of_a_reader_says_what_was_wrong(
    checkpoints: Path, number: int, kind: type[Exception], sentence: str
) -> None:
    one = process.ReaderProcess(checkpoints, BASE)
    try:
        one.ask("ASK {}", media_type="text/csv", limits=QueryLimits(), into=BytesIO())
        os.kill(one.pid, number)
        with pytest.raises(kind, match=sentence):
            one.ask(ALL, media_type="text/csv", limits=QueryLimits(), into=BytesIO())
        assert not one.is_usable
    finally:
        one.close()


def test_an_answer_that_is_too_large_is_given_up(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LARGEST_ANSWER", 3)
    one = process.ReaderProcess(checkpoints, BASE)
    try:
        with pytest.raises(QueryTooLarge, match="larger than 3 bytes"):
            one.ask(ALL, media_type="text/csv", limits=QueryLimits(), into=BytesIO())
    finally:
        one.close()


def test_a_reader_that_does_not_start_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    one = process.ReaderProcess(tmp_path, BASE)
    try:
        with pytest.raises(EngineError, match="does not start: it said nothing"):
            one.ask("ASK {}", media_type="text/csv", limits=QueryLimits(), into=BytesIO())
    finally:
        one.close()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(EngineError, match="can't be started"):
        process.ReaderProcess(tmp_path, BASE)


def test_an_answer_is_given_out_in_pieces_and_then_gone() -> None:
    file = BytesIO(b"x" * 70_000)
    pieces = AnswerChunks(file)
    assert [len(piece) for piece in pieces] == [65_536, 4_464]
    assert file.closed
    assert list(pieces) == []


def test_a_full_disk_is_told_from_other_trouble() -> None:
    assert isinstance(_translate(OSError(28, "No space left on device")), DiskFull)
    assert isinstance(_translate(OSError(5, "Input/output error")), EngineError)
