"""Two workers with folders of their own on one catalogue: each shows all that the catalogue knows, and names who has the rest."""

from __future__ import annotations

import json
import logging
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import pytest

from rehi.app import House
from rehi.builtin import load_all
from rehi.errors import GraphTaken, LiesElsewhere, RecordMissing, SettingsError
from rehi.model.listing import DocumentFilter, DocumentRow, Page
from rehi.model.problem import Stage
from rehi.operations.health.mending import mend
from rehi.operations.sources import enter
from rehi.operations.verification import verify_all, verify_sample
from rehi.operations.workers import take_graph_over
from rehi.pipeline import Progress
from rehi.serve import running
from rehi.service import Service
from rehi.settings import Settings, load_settings
from rehi.testing.waiting import wait_until
from tests.cli.command_line import rehi
from tests.keeper import Keeper, at
from tests.serve.conftest import Ask, ask_at

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


# What lies with the other ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def both(tmp_path: Path) -> Pair:
    """Two workers of which each has kept and read a page of its own, that is there in two versions."""
    pair = Pair(settings_in(tmp_path, "one"), settings_in(tmp_path, "two"))
    for settings in (pair.one, pair.two):
        with House(settings) as house:
            keeper, url = Keeper(house), f"http://www.{settings.data.name}.test/"
            for day in (1, 2):
                keeper.new(url, _TEXT.format(n=f"{day} {url}").encode(), at(day))
            keeper.redirect(f"{url}old", url, at(3))
            keeper.close()
        harvest(settings)
    return pair


def test_every_page_is_shown_by_both_workers_and_says_who_has_the_rest(both: Pair) -> None:
    with House(both.one) as one, House(both.two) as two:
        for here, other in ((one, two), (two, one)):
            names = {f"http://www.{house.settings.data.name}.test/": house.worker for house in (here, other)}
            service = Service(here)
            with running(here, service, port=0) as address:
                ask = ask_at(address)
                for row in here.catalogue.documents(DocumentFilter(), Page())[0]:
                    url, owner = row.url, names[row.url.removesuffix("old")]
                    shown = ask(f"/documents/{row.resource_id}")
                    assert shown.status == 200
                    if not row.versions:
                        continue
                    assert "Mari Kask" in shown.text
                    assert ("kohtusid" in shown.text) == (owner == here.worker)
                    assert (f"lies with the worker {owner}" in shown.text) == (owner != here.worker)
                    assert ask(f"/versions?url={url}").status == 200
                    check_answers(ask, row, owner if owner != here.worker else "")


def check_answers(ask: Ask, row: DocumentRow, owner: str) -> None:
    """Texts, bytes and differences are had, or the worker is named that has them."""
    api = f"/api/documents/{row.resource_id}/annotations"
    stamps = [line.split()[1] for line in ask(f"/cdx?url={row.url}").text.splitlines()]
    assert len(stamps) == 2
    replay = [f"/web/{stamp}id_/{row.url}" for stamp in stamps]
    for path in (api, f"/api/text?url={row.url}", f"/text?url={row.url}", f"/api/diff?url={row.url}", *replay):
        answer = ask(path)
        assert answer.status == (421 if owner else 200), path
        assert not owner or f"lies with the worker {owner}: ask there" in answer.text, path
    moved = ask(f"/web/{ask(f'/cdx?url={row.url}old').text.split()[1]}/{row.url}old")
    assert moved.status == (421 if owner else 301)
    assert owner in moved.text
    stored = {version["stored"] for version in ask(f"/api/versions?url={row.url}").json["versions"]}
    assert ("elsewhere" in stored) == bool(owner)


def test_commands_name_the_worker_that_has_the_bytes(both: Pair, tmp_path: Path) -> None:
    with House(both.one) as one:
        owner, url = one.worker, "http://www.one.test/"
    ask = partial(rehi, data=both.two.data, REHI_CATALOGUE=both.two.catalogue)
    for line in (("get", url, "-o", str(tmp_path / "page")), ("text", url), ("diff", url)):
        ended = ask(*line)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert f"lies with the worker {owner}: ask there" in ended.stderr
    zipped = ask("get", "--zip", str(tmp_path / "all.zip"))
    assert "1 could not be had; index.jsonl in it says which and why" in zipped.stderr
    with ZipFile(tmp_path / "all.zip") as file:
        problems = [json.loads(line).get("problem", "") for line in file.read("index.jsonl").splitlines()]
        assert sum(f"lies with the worker {owner}" in problem for problem in problems) == 1
        assert problems.count("") == 1
    exported = ask("export", "files", str(tmp_path / "files"))
    assert f"lies with the worker {owner}" in exported.stdout + exported.stderr


def test_what_lies_with_another_is_neither_at_fault_nor_lost(both: Pair) -> None:
    with House(both.two) as two:
        assert verify_all(two).faults == []
        sampled = verify_sample(two, 100)
        assert (sampled.bodies, sampled.faults) == (2, [])
    assert mend(both.two).lost == []
    with House(both.one) as one:
        assert [version.dropped for version in one.catalogue.versions("http://www.one.test/")] == [False, False]


def test_what_is_gone_from_a_workers_own_folder_is_missing_and_not_elsewhere(both: Pair) -> None:
    shutil.rmtree(both.one.data / "archive")
    shutil.rmtree(both.one.data / "derived")
    with House(both.one) as one:
        with pytest.raises(RecordMissing) as caught:
            one.texts.of_version(one.catalogue.versions("http://www.one.test/")[0])
        assert type(caught.value) is RecordMissing


# Sources on the other's machine ───────────────────────────────────────────────────────────────────────────────────────


def test_a_source_that_only_another_worker_can_read_is_named(both: Pair, caplog: pytest.LogCaptureFixture) -> None:
    listed = both.one.data.with_name("list.txt")
    listed.write_text("http://www.one.test/\n", encoding="utf-8")
    ask = partial(rehi, data=both.two.data, REHI_CATALOGUE=both.two.catalogue)
    with House(both.one) as one:
        source = enter(one, str(listed))
        one.catalogue.start_source(source.id, worker=one.worker, now=one.catalogue.clock())
        assert "1 source that waits to be read on its machine" in ask("workers").stdout
        harvest(both.two)
        assert caplog.text.count(f"list.txt lies only with the worker {one.worker}") == 1
        assert f"waits for the worker {one.worker}" in ask("source", str(source.id)).stdout
        with House(both.two) as two, running(two, Service(two), port=0) as address:
            assert f"it waits for the worker {one.worker}" in ask_at(address)(f"/sources/{source.id}").text
        caplog.clear()
        harvest(both.one)
        assert "lies only with" not in caplog.text
        assert "done" in ask("source", str(source.id)).stdout
    assert "waits" not in ask("workers").stdout
