"""Graph and catalogue know each other: what the graph has lost is seen at the next start, said, and written again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from rehi.app import House
from rehi.errors import GraphLost
from rehi.graph import compare_marks, describe_mark, mark_graph, read_mark
from rehi.model.generation import GraphCondition, GraphMark, GraphRecord
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.operations.status import get_status
from rehi.service import Service
from rehi.testing.snapshot import take_snapshot
from tests.health.conftest import harvest, settings_of

ALL = "SELECT * { ?s ?p ?o }"
CSV = "text/csv"


def lose(data: Path) -> None:
    shutil.rmtree(data / "graph")


def lose_current(data: Path) -> None:
    (data / "graph" / "store" / "CURRENT").unlink()


def lose_a_table(data: Path) -> None:
    tables = list((data / "graph" / "store").glob("*.sst"))
    max(tables, key=lambda table: table.stat().st_size).unlink()


def damage_tables(data: Path) -> None:
    """Overwrite the blocks of all tables but their ends, by which they are opened."""
    for path in (data / "graph").rglob("*.sst"):
        raw = bytearray(path.read_bytes())
        if len(raw) > 1_000:
            raw[40:90] = bytes(50)
        path.write_bytes(raw)  # the copies in other folders, too: they are hard links


def bring_back_an_older_one(data: Path) -> None:
    with writing(data) as house:
        record = house.catalogue.graph_record()
        assert record.mark is not None
        older = GraphMark(generation=record.mark.generation, batch=record.mark.batch - 1)
        graph = house._load_graph(writable=True)
        graph.write([describe_mark(house.settings.base, older)])
        graph.publish()
        graph.close()


def bring_another(data: Path) -> None:
    with writing(data) as house:
        graph = house._load_graph(writable=True)
        graph.write([describe_mark(house.settings.base, GraphMark(generation="other", batch=3))])
        graph.publish()
        graph.close()


@contextmanager
def writing(data: Path) -> Iterator[House]:
    with House(settings_of(data)) as house:
        yield house


WAYS = [lose, lose_current, lose_a_table, damage_tables, bring_back_an_older_one, bring_another]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_graph_that_lacks_something_is_written_again_by_itself(
    made: Path, data: Path, way: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    with House(settings_of(made)) as house:
        before = take_snapshot(house).statements
    way(data)
    harvest(data)
    assert "written again from the catalogue" in caplog.text
    with House(settings_of(data)) as house:
        assert take_snapshot(house).statements == before
        assert house.graph_gap() == ""
        assert house.catalogue.problems(stage=Stage.GRAPH, page=Page())[1] == []
    assert bool(list(data.glob("graph-aside-*"))) == (way not in (lose, bring_back_an_older_one))


def test_a_graph_that_is_well_is_left_alone(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    with House(settings_of(data)) as house:
        before = house.catalogue.graph_record()
        harvest(data)
        assert house.catalogue.graph_record() == before
        assert house.query(ALL, media_type=CSV).incomplete == ""
    assert caplog.text == ""


def test_until_it_is_whole_again_answers_say_so(data: Path) -> None:
    lose(data)
    with House(settings_of(data)) as house:
        with house.working() as work:
            work.run(until_idle=True, stopped=lambda: True)  # it is seen at the start, and nothing is written yet
        gap = house.query(ALL, media_type=CSV).incomplete
        assert "written again from the catalogue: the graph is not there" in gap
        (problem,), _ = house.catalogue.problems(stage=Stage.GRAPH, page=Page())
        assert (problem.code, problem.subject) == (GraphLost.code, "graph")
        status = get_status(Service(house)).graph
        assert status is not None
        assert status.incomplete == gap
        assert status.left > 4


def test_an_answer_of_another_graph_is_incomplete_before_any_harvest(data: Path) -> None:
    bring_another(data)
    with House(settings_of(data)) as house:
        assert "next harvest" in house.query(ALL, media_type=CSV).incomplete


def test_each_batch_bears_the_mark_that_the_catalogue_records(house: House) -> None:
    mark = read_mark(house.graph.read(mark_graph(house.settings.base)))
    assert mark is not None
    assert mark == house.catalogue.graph_record().mark
    assert mark.batch > 0


A, B = (GraphMark(generation=name, batch=5) for name in "ab")


def later(mark: GraphMark) -> GraphMark:
    return replace(mark, batch=mark.batch + 1)


@pytest.mark.parametrize(
    ("known", "mark", "size", "condition"),
    [
        (A, A, 0, GraphCondition.WHOLE),
        (A, later(A), 0, GraphCondition.WHOLE),  # a kill between the graph's write and the catalogue's
        (A, later(later(A)), 0, GraphCondition.OTHER),  # the catalogue is an older one
        (later(A), A, 0, GraphCondition.OLDER),
        (A, B, 0, GraphCondition.OTHER),
        (A, None, 99, GraphCondition.MISSING),
        (None, None, 10, GraphCondition.WHOLE),  # of a version without marks
        (None, None, 9, GraphCondition.MISSING),
        (None, GraphMark(generation="a", batch=0), 10, GraphCondition.WHOLE),  # a kill while it was begun
        (None, A, 10, GraphCondition.OTHER),  # the catalogue was begun anew
    ],
)
def test_marks_tell_what_a_graph_is(
    known: GraphMark | None, mark: GraphMark | None, size: int, condition: GraphCondition
) -> None:
    record = GraphRecord(mark=known, statements=10)
    assert compare_marks(record, mark, size=size, shared=False) is condition


def test_on_a_server_that_several_write_to_only_the_generation_counts() -> None:
    assert compare_marks(GraphRecord(mark=later(A)), A, size=0, shared=True) is GraphCondition.WHOLE
    assert compare_marks(GraphRecord(mark=A), B, size=0, shared=True) is GraphCondition.OTHER
