"""The embedded graph engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Store, Triple

from rehi.engines.oxigraph import checkpoints, open_graph
from rehi.engines.oxigraph.frames import ASK, CHUNK, END, READY, read_frame, write_frame
from rehi.engines.oxigraph.readers import OxigraphReaders
from rehi.engines.oxigraph.store import OxigraphStore, as_update
from rehi.errors import Busy, DataFolderBusy, EngineError, GraphDamaged, QueryError, QueryTooLarge, SettingsError
from rehi.ports import Graph, QueryLimits, ReplaceGraph
from rehi.testing.contracts.graph import COUNT, JSON, LIMITS, GraphContract, ask, node, says, tell, values
from rehi.testing.waiting import PATIENCE, wait_until

BASE = "http://rehi.localhost"
CROSS = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?i ?f"
LONG = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"  # takes time, and no memory


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OxigraphStore]:
    store = OxigraphStore(tmp_path_factory.mktemp("graph"), base=BASE)
    yield store
    store.close()


def _empty(store: OxigraphStore) -> OxigraphStore:
    """A store whose warm readers serve the next test too."""
    graphs = values(store, "SELECT DISTINCT ?g { GRAPH ?g { } }")
    tell(store, *(ReplaceGraph(NamedNode(name), ()) for name in graphs))
    return store


class TestOxigraph(GraphContract):
    @pytest.fixture
    def graph(self, house: OxigraphStore) -> Graph:
        return _empty(house)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "graph"


@pytest.fixture
def store(house: OxigraphStore) -> OxigraphStore:
    return _empty(house)


def _fill(store: OxigraphStore, many: int = 1000) -> None:
    tell(store, ReplaceGraph(node("g"), tuple(says(str(i), "p", str(i)) for i in range(many))))


@contextmanager
def _slow_query(store: OxigraphStore) -> Iterator[threading.Thread]:
    """A query that keeps a reader at work, until that is killed in the end."""

    def ask_in_vain() -> None:
        with suppress(EngineError):  # as what a killed reader is understood
            ask(store, LONG, limits=QueryLimits(seconds=10 * PATIENCE))

    slow = threading.Thread(target=ask_in_vain)
    before = _spent(os.getpid())
    slow.start()
    reader, *_ = wait_until(lambda: _at_work(os.getpid(), before), what="a reader is at work")
    yield slow
    with suppress(ProcessLookupError):  # the store may have been closed
        os.kill(reader, signal.SIGKILL)
    slow.join(PATIENCE)
    assert not slow.is_alive()


def test_a_query_that_wants_too_much_memory_is_ended_and_the_next_is_answered(store: OxigraphStore) -> None:
    _fill(store)
    with pytest.raises(QueryTooLarge, match="more than 300 MB"):
        ask(store, CROSS, limits=QueryLimits(seconds=PATIENCE, memory=300_000_000))
    assert values(store, COUNT) == ["1000"]


def test_a_query_nested_too_deeply_is_an_error_and_the_next_is_answered(store: OxigraphStore) -> None:
    with pytest.raises(QueryError, match="nested too deeply"):
        ask(store, "ASK " + "{" * 20_000 + "}" * 20_000)
    assert values(store, COUNT) == ["0"]


def test_a_wrong_query_does_not_cost_a_process(store: OxigraphStore) -> None:
    ask(store, COUNT)
    before = _readers(os.getpid())
    with pytest.raises(QueryError):
        ask(store, "SELECT")
    assert _readers(os.getpid()) == before


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("SELECT *\n{ ?s ?p ?o }\nORDER ?s", r"line 3, column \d+, in 'ORDER \?s' \(BY is missing\)"),
        ("SELECT ?x WHERE ?s", r"line 1, column 17, in .* \(\{ is missing\)"),
        ("SELECT * { ?s foo:bar ?o }", r"line 1, column 22, in .* \(prefix not found\)"),
        ("SELECT ?a (SUM(?b) AS ?c) { ?a ?p ?b }", r"\(the SELECT contains a variable that is unbound\)"),
        ("PREFIX a: <a:b> SELECT x {}", r"at or before line 1, in "),  # columns shift when prefixes are filled in
        ("SELECT * { ?s ?p <http://a b> }", r"can't be read"),
        ("", r"can't be read"),
    ],
)
def test_a_wrong_query_is_explained_in_a_sentence(store: OxigraphStore, query: str, sentence: str) -> None:
    with pytest.raises(QueryError, match=sentence) as caught:
        ask(store, query)
    assert len(str(caught.value)) < 250


def test_relative_iris_are_those_of_the_house(store: OxigraphStore) -> None:
    assert values(store, "SELECT (<entity/person/mari> AS ?x) {}") == [f"{BASE}/entity/person/mari"]


def test_a_word_in_a_text_is_no_clause(store: OxigraphStore) -> None:
    tell(store, ReplaceGraph(node("g"), (says("a", "from", "FROM"),)))
    query = f'# FROM\nSELECT ?from {{ ?s {node("from")} ?from FILTER(?from = \'FROM\') FILTER(?from != """FROM""") }}'
    assert values(store, query.replace("!=", "=")) == ["FROM"]


def test_many_ask_at_once_and_a_slow_one_stops_nobody(store: OxigraphStore) -> None:
    _fill(store)
    with _slow_query(store) as slow:
        held = store.query("SELECT * { ?s ?p ?o . ?x ?y ?z } LIMIT 20000", media_type=JSON, limits=LIMITS)
        assert [values(store, COUNT) for _ in range(10)] == [["1000"]] * 10
        assert slow.is_alive()
    assert len(json.loads(b"".join(held.chunks))["results"]["bindings"]) == 20_000


def test_beside_a_query_that_takes_long_others_are_answered_and_a_second_such_waits(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE, workers=1)
    _fill(store)
    with _slow_query(store) as slow:
        assert values(store, COUNT) == ["1000"]
        with pytest.raises(Busy, match="all 1 places for queries that take long were taken"):
            ask(store, LONG, limits=QueryLimits(seconds=2))
        assert values(store, COUNT) == ["1000"]
        assert slow.is_alive()
    store.close()


def test_a_query_that_waited_for_a_place_is_answered_in_the_end(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE, workers=1)
    _fill(store)
    answers: list[list[str]] = []
    counted = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f }"  # takes long enough, twice: a million pairs
    with _slow_query(store):
        waiting = threading.Thread(target=lambda: answers.append(values(store, counted)))
        waiting.start()
        assert values(store, COUNT) == ["1000"]
    waiting.join(PATIENCE)
    assert answers == [["1000000"]]
    store.close()


def test_no_more_than_a_few_queries_wait_for_a_place(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE, workers=1)
    _fill(store)
    refused: list[str] = []

    def ask_in_vain() -> None:
        try:
            ask(store, LONG, limits=QueryLimits(seconds=PATIENCE))
        except Busy as error:
            refused.append(str(error))
        except EngineError:  # closed meanwhile
            pass

    with _slow_query(store):
        crowd = [threading.Thread(target=ask_in_vain) for _ in range(6)]
        for thread in crowd:
            thread.start()
        wait_until(lambda: len(refused) >= 2, what="two are refused")
        store.close()
    for thread in crowd:
        thread.join(PATIENCE)
    assert refused[0] == "too many queries that take long are waiting already"


def test_killed_readers_are_replaced(store: OxigraphStore) -> None:
    for _ in range(3):
        assert values(store, COUNT) == ["0"]
        readers = _readers(os.getpid())
        for pid in readers:
            os.kill(pid, signal.SIGKILL)
        _wait_for_the_end(readers)
    assert values(store, COUNT) == ["0"]


def test_closing_ends_all_processes_also_those_at_work(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    _fill(store)
    before, spent = _readers(os.getpid()), _spent(os.getpid())
    failed: list[Exception] = []

    def work() -> None:
        try:
            ask(store, LONG, limits=QueryLimits(seconds=PATIENCE))
        except Exception as error:
            failed.append(error)

    busy = threading.Thread(target=work)
    busy.start()
    wait_until(lambda: _at_work(os.getpid(), spent), what="a reader is at work")
    store.close()
    busy.join(PATIENCE / 2)
    assert not busy.is_alive()
    assert failed
    assert not _readers(os.getpid()) - before
    with pytest.raises(EngineError, match="closed"):
        ask(store, COUNT)


def test_a_second_writer_is_told_so(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    with pytest.raises(DataFolderBusy, match="another process writes the graph"):
        OxigraphStore(folder, base=BASE)
    code = (
        f"from rehi.engines.oxigraph import open_graph; open_graph('oxigraph://{folder}', writable=True, base='{BASE}')"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert "DataFolderBusy: another process writes the graph" in other.stderr
    store.close()
    OxigraphStore(folder, base=BASE).close()


def test_others_can_ask_while_one_writes(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    asking = open_graph(f"oxigraph://{folder}", writable=False, base=BASE, workers=1)
    assert asking.size() == 0
    _fill(store, 10)
    assert asking.size() == 10
    assert "published 2 times" in asking.check()
    with pytest.raises(EngineError, match="for queries only"):
        asking.write([])
    store.close()
    assert values(asking, COUNT) == ["10"]
    asking.close()


def test_without_a_graph_there_is_nothing_to_ask(folder: Path) -> None:
    asking = open_graph(f"oxigraph://{folder}", writable=False, base=BASE)
    with pytest.raises(QueryError, match="nothing to ask yet"):
        ask(asking, COUNT)
    assert asking.size() == 0
    asking.close()


@pytest.mark.parametrize("uri", ["oxigraph://", "oxigraph://host/path", "sqlite:///x"])
def test_an_address_that_is_none_is_refused(uri: str) -> None:
    with pytest.raises(SettingsError, match="no place for a graph"):
        open_graph(uri, writable=True, base=BASE)


def test_a_damaged_store_is_one_sentence_and_can_be_begun_anew(folder: Path) -> None:
    OxigraphStore(folder, base=BASE).close()
    (folder / "store" / "CURRENT").write_text("nonsense")
    store = OxigraphStore(folder, base=BASE)
    try:
        with pytest.raises(GraphDamaged, match="is damaged"):
            store.read(node("g"))
        assert (folder.with_name(store.renew()) / "store" / "CURRENT").read_text() == "nonsense"
        tell(store, ReplaceGraph(node("g"), (says("a", "p", "1"),)))
        assert store.read(node("g")) == {says("a", "p", "1")}
    finally:
        store.close()


def test_no_empty_store_is_begun_over_the_files_of_one(folder: Path) -> None:
    OxigraphStore(folder, base=BASE).close()
    (folder / "store" / "CURRENT").unlink()
    for _ in range(2):  # RocksDB itself refuses only the first time
        store = OxigraphStore(folder, base=BASE)
        with pytest.raises(GraphDamaged, match="CURRENT"):
            store.size()
        store.close()


def test_who_reads_sees_the_graph_that_was_begun_anew(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    try:
        tell(store, ReplaceGraph(node("g"), (says("a", "p", "old"),)))
        assert values(store, "SELECT ?o { ?s ?p ?o }") == ["old"]
        store.renew()
        assert values(store, "SELECT ?o { ?s ?p ?o }") == []
    finally:
        store.close()


def test_numbers_beside_each_other_are_told_apart(folder: Path) -> None:
    """Oxigraph's own look-up by a number whose last byte is 255 finds its neighbours, too, if the store is on disk."""
    numbers = (255, 256, 300, 2303, 2304)
    store = OxigraphStore(folder, base=BASE)
    try:
        tell(store, ReplaceGraph(node("g"), tuple(Triple(node(str(n)), node("p"), Literal(n)) for n in numbers)))
        assert list(store.verify()) == []
        for number in numbers:
            assert values(store, f"SELECT ?s {{ ?s ?p {number} }}") == [node(str(number)).value]
        tell(store, ReplaceGraph(node("g"), tuple(Triple(node(str(n)), node("p"), Literal(n)) for n in numbers[1:])))
        assert values(store, "SELECT ?o { ?s ?p ?o }") == sorted(str(n) for n in numbers[1:])
    finally:
        store.close()


def test_old_checkpoints_go_and_held_ones_stay(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    copies = folder / "checkpoints"
    held = checkpoints.hold_newest(copies)
    assert held is not None
    assert held[0] == 1
    for i in range(5):
        tell(store, ReplaceGraph(node("g"), (says("a", "p", str(i)),)))
    assert checkpoints.numbers(copies) == [1, 5, 6]
    os.close(held[1])
    tell(store, ReplaceGraph(node("g"), ()))
    assert checkpoints.numbers(copies) == [6, 7]
    assert len(list(copies.iterdir())) == 2
    store.close()


def test_publishing_nothing_makes_no_checkpoint(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    change = ReplaceGraph(node("g"), (says("a", "p", "1"),))
    tell(store, change)
    before = checkpoints.numbers(folder / "checkpoints")
    for _ in range(3):
        tell(store, change)
    assert checkpoints.numbers(folder / "checkpoints") == before
    store.close()


def test_what_a_killed_writer_left_half_made_is_swept_away(folder: Path) -> None:
    OxigraphStore(folder, base=BASE).close()
    for name in ("00000009.tmp", "00000001.gone"):
        (folder / "checkpoints" / name).mkdir()
    OxigraphStore(folder, base=BASE).close()
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["00000001"]


WRITER = """
import sys
from pathlib import Path
from rehi.engines.oxigraph.store import OxigraphStore
from rehi.ports import ReplaceGraph
from rehi.testing.contracts.graph import node, says

store = OxigraphStore(Path(sys.argv[1]), base="http://rehi.localhost")
number = int(sys.argv[2])
while True:
    number += 1
    store.write([ReplaceGraph(node(f"g{number}-{i}"), (says(str(number), "in", str(i)),)) for i in range(10)])
    print(number, flush=True)
    if number % 7 == 0:
        store.publish()
"""


def test_a_killed_writer_loses_nothing_that_it_was_told_is_safe(folder: Path) -> None:
    safe = 0
    for round_ in range(3):
        arguments = [sys.executable, "-c", WRITER, str(folder), str(safe + 1)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            numbers = [int(writer.stdout.readline()) for _ in range(4 + 5 * round_)]
            writer.kill()
            numbers += [int(line) for line in writer.stdout if line.endswith("\n")]
        before, safe = safe, numbers[-1]
        store = OxigraphStore(folder, base=BASE)
        store.publish()
        counts = values(store, f"SELECT ?n {{ {{ SELECT ?s (COUNT(*) AS ?n) {{ ?s {node('in')} ?o }} GROUP BY ?s }} }}")
        assert set(counts) == {"10"}, "half a batch was written"
        written = {int(iri.rpartition("/")[2]) for iri in values(store, f"SELECT DISTINCT ?s {{ ?s {node('in')} ?o }}")}
        assert set(range(before + 2, safe + 1)) <= written
        store.close()


PARENT = """
import sys, threading
from pathlib import Path
from rehi.engines.oxigraph.readers import OxigraphReaders
from rehi.ports import QueryLimits

readers = OxigraphReaders(Path(sys.argv[1]), base="http://rehi.localhost")
how = {"media_type": "text/csv", "limits": QueryLimits(seconds=1_000)}
threading.Thread(target=readers.query, args=(sys.argv[2],), kwargs=how).start()
while len(readers._live) < 2:  # one works for the slow query, and one answered this
    readers.query("ASK {}", **how)
print("ready", flush=True)
threading.Event().wait()
"""


def test_readers_die_with_their_parent_idle_or_at_work(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    _fill(store)
    store.close()
    arguments = [sys.executable, "-c", PARENT, str(folder / "checkpoints"), LONG]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "ready\n"
            wait_until(lambda: _at_work(parent.pid, {}), what="one of them is at work")
            readers = _readers(parent.pid)
            assert len(readers) >= 2  # perhaps with one that was started ahead
        finally:
            parent.kill()
    _wait_for_the_end(readers)


def test_what_comes_through_the_pipe_of_queries_ends_no_reader_at_work(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    _fill(store)
    store.close()
    limits = {"media_type": "text/csv", "seconds": PATIENCE, "memory": 1 << 30, "rows": None}
    theirs, lifeline = os.pipe()
    command = [sys.executable, "-m", "rehi.engines.oxigraph.reader", str(folder / "checkpoints"), BASE, str(theirs)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(theirs,), bufsize=0
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        kinds = [read_frame(reader.stdout.read)[0]]
        before = _cpu(reader.pid)
        for query in ("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f }", "ASK {}"):
            write_frame(reader.stdin.fileno(), ASK, json.dumps({"text": query, **limits}).encode())
            wait_until(lambda: _cpu(reader.pid) > before, what="it is at work", pause=0.001)
        kinds += [read_frame(reader.stdout.read)[0] for _ in range(4)]
        os.close(lifeline)
        assert reader.wait(PATIENCE) == -signal.SIGIO
    os.close(theirs)
    assert kinds == [READY, CHUNK, END, CHUNK, END]


def test_a_reader_starts_with_little_work(folder: Path) -> None:
    OxigraphStore(folder, base=BASE).close()
    done = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-m", "rehi.engines.oxigraph.reader", str(folder), BASE, "0"],
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stderr
    loaded = {line.rpartition("|")[2].strip() for line in done.splitlines()}
    assert "pyoxigraph" in loaded
    assert not loaded & {"rehi.model", "rehi.ports", "sqlalchemy", "pydantic", "asyncio", "subprocess", "dataclasses"}


def test_readers_work_without_a_writer(folder: Path) -> None:
    store = OxigraphStore(folder, base=BASE)
    _fill(store, 3)
    store.close()
    readers = OxigraphReaders(folder / "checkpoints", base=BASE, workers=1)
    answer = readers.query(COUNT, media_type="text/csv", limits=LIMITS)
    assert b"".join(answer.chunks) == b"n\r\n3\r\n"
    readers.close()


@settings(max_examples=100, deadline=None)
@given(before=st.lists(st.text(max_size=30), max_size=4), after=st.lists(st.text(max_size=30), max_size=4))
def test_an_update_leaves_just_what_was_said_last_whatever_the_texts(before: list[str], after: list[str]) -> None:
    store = Store()
    for texts in (before, after):
        change = ReplaceGraph(node("g"), tuple(Triple(node("a"), node("p"), Literal(text)) for text in texts))
        if update := as_update([change], store):
            store.update(update)
        assert as_update([change], store) == ""
    assert {quad.object.value for quad in store} == set(after)


def _readers(parent: int) -> set[int]:
    """The reader processes of a parent."""
    listing = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    return {int(line.split()[0]) for line in listing.stdout.splitlines() if "rehi.engines.oxigraph.reader" in line}


def _spent(parent: int) -> dict[int, float]:
    """The processor time of each reader of a parent, in seconds."""
    return {pid: _cpu(pid) for pid in _readers(parent) if _stat(pid)}


def _cpu(pid: int) -> float:
    """The processor time of a process, in seconds; 0 if it has gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _at_work(parent: int, before: dict[int, float]) -> list[int]:
    """The readers that have spent time on a query since then; a start takes a tenth of a second."""
    return [pid for pid, spent in _spent(parent).items() if spent - before.get(pid, 0.5) > 0.3]


def _wait_for_the_end(readers: set[int]) -> None:
    wait_until(lambda: not any(map(_runs, readers)), what="the readers are dead")


def _runs(pid: int) -> bool:
    """Whether any thread of a process is left: until the last one has ended, the first is a zombie that can't be waited for."""
    fields = _stat(pid)
    return bool(fields) and (fields[0] != "Z" or int(fields[17]) > 1)


def _stat(pid: int) -> list[str]:
    """The fields of a process from its state on; none if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
