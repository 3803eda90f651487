"""The graph is damaged under a running harvest: it goes on, says so, and writes the graph again by itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from urllib.parse import quote

import pytest

from rehi.app import House
from rehi.errors import GraphDamaged, GraphLost
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.pipeline import Progress
from rehi.serve import running
from rehi.service import Service
from rehi.testing.snapshot import take_snapshot
from rehi.testing.waiting import PATIENCE
from tests.health.conftest import harvest, settings_of
from tests.health.damage import make_hole
from tests.serve.conftest import ask_at

CSV = "text/csv"
ALL = "SELECT * { ?s ?p ?o }"
WHOLE = "the graph is whole again"


def delete_all(graph: Path) -> None:
    shutil.rmtree(graph)


def delete_what_is_published(graph: Path) -> None:
    shutil.rmtree(graph / "checkpoints")


def bring_a_copy(graph: Path) -> None:
    """The same in other files, which nobody has open."""
    shutil.copytree(graph, graph.with_name("copy"))
    shutil.rmtree(graph)
    graph.with_name("copy").rename(graph)


def make_holes_in_what_is_published(graph: Path) -> None:
    """Damage what queries read, and not the writer's files."""
    for path in (graph / "checkpoints").rglob("*.sst"):
        raw = path.read_bytes()
        path.unlink()  # they are links to the same files
        path.write_bytes(raw)
        if len(raw) > 1_000:
            make_hole(path, 40)


WAYS = [delete_all, delete_what_is_published, bring_a_copy]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_graph_that_goes_under_a_harvest_is_written_again_and_answers_say_so(
    data: Path, way: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    gaps: list[str] = []
    problems: set[str] = set()

    def look(_: Progress) -> None:
        if not gaps:
            way(data / "graph")
        gaps.append(house.graph_gap())
        problems.update(problem.code for problem in house.catalogue.problems(stage=Stage.GRAPH, page=Page())[0])

    with House(settings_of(data)) as house, house.working() as work:
        before = take_snapshot(house).statements
        assert house.graph_gap() == ""
        work.run(until_idle=False, stopped=is_whole_again(caplog), on_turn=look)
        assert house.query(ALL, media_type=CSV).incomplete == ""
        assert take_snapshot(house).statements == before
        assert house.catalogue.problems(stage=Stage.GRAPH, page=Page())[0] == []
    assert any("is being written again from the catalogue" in gap for gap in gaps)
    assert problems == {GraphLost.code}
    assert "all of it is written again from the catalogue" in caplog.text


def test_what_a_query_has_met_is_mended_by_the_harvest_that_runs(
    made: Path, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = statements_of(made)
    asked: list[GraphDamaged] = []

    def meet_damage(_: Progress) -> None:
        if not asked:
            make_holes_in_what_is_published(data / "graph")
            with pytest.raises(GraphDamaged) as met:
                house.query(ALL, media_type=CSV)
            asked.append(met.value)

    with House(settings_of(data)) as house, house.working() as work:
        work.run(until_idle=False, stopped=is_whole_again(caplog), on_turn=meet_damage)
        assert house.query(ALL, media_type=CSV).incomplete == ""
    assert statements_of(data) == before


def test_what_a_query_has_met_is_seen_by_the_next_harvest(
    made: Path, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = statements_of(made)
    make_holes_in_what_is_published(data / "graph")
    with House(settings_of(data)) as house, running(house, Service(house), port=0) as address:
        answer = ask_at(address)(f"/sparql?query={quote(ALL)}")
        assert (answer.status, answer.json["code"]) == (503, GraphDamaged.code)
        assert "The query is not to blame." in answer.json["advice"]
        assert str(data) not in answer.text
        assert "the next harvest writes it again" in house.graph_gap()
    assert "all of it is written again" not in caplog.text
    harvest(data)
    assert "all of it is written again from the catalogue" in caplog.text
    with House(settings_of(data)) as house:
        assert house.graph_gap() == ""
    assert statements_of(data) == before


def is_whole_again(caplog: pytest.LogCaptureFixture) -> Callable[[], bool]:
    """Whether the harvest has said so, or has had long enough."""
    end = monotonic() + PATIENCE
    return lambda: WHOLE in caplog.text or monotonic() > end


def statements_of(data: Path) -> object:
    with House(settings_of(data)) as house:
        return take_snapshot(house).statements
