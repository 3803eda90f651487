"""The store of the embedded graph: one writer and its checkpoints, whatever is killed or damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import Literal, Triple

from rehi.engines.oxigraph import checkpoints, open_graph
from rehi.engines.oxigraph.store import OxigraphStore
from rehi.errors import DataFolderBusy, EngineError, GraphDamaged, GraphMissing, SettingsError
from rehi.ports import ReplaceGraph
from rehi.testing.contracts.graph import COUNT, ask, node, says, tell, values
from rehi.testing.waiting import PATIENCE

BASE = "http://rehi.localhost"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "graph"


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
    tell(store, ReplaceGraph(node("g"), tuple(says(str(i), "p", str(i)) for i in range(10))))
    assert asking.size() == 10
    assert "published 2 times" in asking.check()
    with pytest.raises(EngineError, match="for queries only"):
        asking.write([])
    store.close()
    assert values(asking, COUNT) == ["10"]
    asking.close()


def test_without_a_graph_there_is_nothing_to_ask(folder: Path) -> None:
    asking = open_graph(f"oxigraph://{folder}", writable=False, base=BASE)
    with pytest.raises(GraphMissing, match="nothing to ask"):
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
