"""Two workers with folders of their own on one catalogue: each shows all that the catalogue knows, and names who has the rest."""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rehi.app import House
from rehi.builtin import load_all
from rehi.errors import GraphTaken, LiesElsewhere, SettingsError
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.operations.workers import take_graph_over
from rehi.pipeline import Progress
from rehi.service import Service
from rehi.settings import Settings, load_settings
from rehi.testing.waiting import wait_until
from tests.kept import Keeper, at

PAGES = 700  # several batches of descriptions
_TEXT = "<html><head><title>Leht {n}</title></head><body><p>Jaan Tamm{n} ja Mari Kask kohtusid Tartus. {n}</p></body></html>"
_ALL = "SELECT * { GRAPH ?g { ?s ?p ?o } FILTER(!STRENDS(STR(?g), '/graph/mark')) }"


@dataclass(frozen=True, slots=True)
class Pair:
    """The settings of two workers."""

    one: Settings
    two: Settings


def settings_in(folder: Path, name: str) -> Settings:
    """The settings of a worker, whose folder is its own and whose catalogue is not."""
    return load_settings(data=folder / name, catalogue=f"sqlite:///{folder / 'catalogue.db'}", work={"workers": 1})


def harvest(settings: Settings) -> None:
    with House(settings) as house, house.working() as work:
        work.run(until_idle=True, stopped=lambda: False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a catalogue, and with the data of a worker that has kept, read and described some pages."""
    folder = tmp_path_factory.mktemp("pair")
    settings = settings_in(folder, "one")
    with House(settings) as house:
        keeper = Keeper(house)
        for n in range(PAGES):
            keeper.new(f"http://www.rehemaa.test/{n}", _TEXT.format(n=n).encode(), at(n / PAGES))
        keeper.close()
    harvest(settings)
    return folder


@pytest.fixture
def pair(made: Path, tmp_path: Path) -> Pair:
    folder = shutil.copytree(made, tmp_path / "pair")
    return Pair(settings_in(folder, "one"), settings_in(folder, "two"))


@pytest.fixture
def one(pair: Pair) -> Iterator[House]:
    with House(pair.one) as house:
        yield house


@pytest.fixture
def two(pair: Pair) -> Iterator[House]:
    with House(pair.two) as house:
        yield house


@pytest.fixture
def up(one: House) -> Iterator[Service]:
    """The first worker, which works on by itself."""
    service = Service(one)
    service.start()
    wait_until(lambda: one.catalogue.workers(now=one.catalogue.clock())[0].ended_at is None, what="a sign of life")
    yield service
    service.stop()


def statements(house: House) -> Counter[bytes]:
    """All that the graph says but for its mark; both workers have the same ids, since they have the same catalogue."""
    answer = house.query(_ALL, media_type="text/tab-separated-values")
    return Counter(b"".join(answer.chunks).splitlines())


def was_taken(house: House) -> bool:
    """Whether a worker has said that its graph was taken."""
    rows, _ = house.catalogue.problems(stage=Stage.GRAPH, page=Page())
    return any(row.code == GraphTaken.code and row.subject == f"graph of {house.worker}" for row in rows)


def test_the_graph_of_a_worker_that_lives_is_not_taken_by_mistake(one: House, two: House, up: Service) -> None:
    with pytest.raises(SettingsError, match=rf"the worker {one.worker} has the graph.*stop it first.*--force"):
        take_graph_over(two)
    assert two.graph_owner == one.worker
    up.stop()
    take_graph_over(two)
    assert (one.graph_owner, two.graph_owner) == (two.worker, "")


def test_who_takes_the_graph_from_a_worker_that_lives_has_all_of_it(
    one: House, two: House, up: Service, caplog: pytest.LogCaptureFixture
) -> None:
    whole = statements(one)
    counted: list[int] = []

    def let_the_other_work(_: Progress) -> None:
        """Wait, with the first turn, until the old owner has looked for what the graph must be told."""
        if not counted:
            counted.append(up.status.counts.get("statements", 0))
            wait_until(
                lambda: was_taken(one) or up.status.counts.get("statements", 0) > counted[0], what="the other looks"
            )

    take_graph_over(two, force=True)
    with two.working() as work, caplog.at_level(logging.WARNING):
        work.run(until_idle=True, stopped=lambda: False, on_turn=let_the_other_work)
    assert "the graph is whole again" in caplog.text
    assert statements(two) == whole
    assert two.graph_gap() == ""
    assert two.catalogue.graph_record(load_all("topic")).rewriting == ""
    wait_until(lambda: was_taken(one), what="the old owner says that it has lost the graph")
    assert caplog.text.count(f"the worker {two.worker} has taken the graph over") == 1
    with pytest.raises(LiesElsewhere, match=rf"embedded in the worker {two.worker}: ask there"):
        statements(one)
    assert [worker.claims for worker in two.catalogue.workers(now=two.catalogue.clock())] == [{}, {}]
    assert up.status.running


def test_what_the_old_owner_had_in_hand_is_told_by_the_new_one(one: House, two: House) -> None:
    whole = statements(one)
    page = one.catalogue.document("http://www.rehemaa.test/1").resource_id
    with one.working() as old:
        old._recover()  # it has begun, and knows that the graph is its own
        one.catalogue.put("resource", [page])
        claims = one.catalogue.claim(("resource",), worker=one.worker, limit=9, ttl=600, now=one.catalogue.clock())
        old._descriptions._claims = claims
        take_graph_over(two, force=True)
        old._descriptions.describe()
        assert old.settled or not old._writes_graph
    assert was_taken(one)
    with two.working() as new:
        new.run(until_idle=True, stopped=lambda: False)
    assert statements(two) == whole


def test_an_old_owner_that_starts_again_has_nothing_to_complain_of(pair: Pair, one: House, two: House) -> None:
    with one.working() as old:
        old._recover()
        take_graph_over(two, force=True)
        old._descriptions.describe()
    assert was_taken(one)
    harvest(pair.one)
    assert not was_taken(one)
