"""What comes while it is looked is no ailment: the order in which things are looked at sees to that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rehi.app import House, lock_folder
from rehi.graph import GraphTopic, load_topics
from rehi.graph.description import RESOURCES
from rehi.operations.health import examine_house
from rehi.operations.health.graph import _judge
from rehi.operations.verification import _Verification, take_inventory
from rehi.ports import Topic
from tests.health.conftest import settings_of
from tests.keeper import Keeper, at


def test_a_body_that_comes_after_the_inventory_is_not_missed(house: House) -> None:
    inventory = take_inventory(house)
    keeper = Keeper(house, file_bytes=2_500)
    for number in range(9):  # into the open file, and into new ones
        keeper.new(f"http://www.rehemaa.test/new/{number}", b"<p>late</p>" * 40 + bytes([number]), at(70 + number))
    keeper.close()
    run = _Verification(house, inventory, lambda _: None)
    run.go_through_files()
    run.look_for_bodies()
    assert run.done.faults == []
    assert run.done.unknown == []


def test_a_file_that_is_sealed_after_the_inventory_is_read_to_the_end_that_it_had(house: House) -> None:
    keeper = Keeper(house, file_bytes=2_500)
    last = max(name for name, _ in house.archive.shelf.files() if name.endswith(".warc.gz"))
    with (house.archive_folder / last).open("ab") as file:
        file.write(b"\x1f\x8b\x08 what is just being written")
    inventory = take_inventory(house)
    (house.archive_folder / last.replace(".warc.gz", ".cdxj")).touch()
    run = _Verification(house, inventory, lambda _: None)
    run.go_through_files()
    assert run.done.faults == []
    keeper.close()


def test_the_graph_is_not_judged_by_what_it_was_not_told_yet(house: House) -> None:
    topic = load_topics()["resource"]
    subjects = house.catalogue.resource_ids(after=0, limit=100)
    assert _judge(house, topic, subjects) == dict.fromkeys(subjects, True)
    keeper = Keeper(house)
    keeper.new("http://www.rehemaa.test/0", b"<p>something else</p>", at(80))
    keeper.close()
    changed = house.catalogue.document("http://www.rehemaa.test/0").resource_id
    assert _judge(house, topic, subjects) == dict.fromkeys(set(subjects) - {changed}, True)


class Echo:
    """Says what documents say, and has no subjects of its own."""

    follows = "resource"
    describe = RESOURCES.describe


class Choir(Echo):
    """Has subjects of its own, which documents may concern."""

    subjects = RESOURCES.subjects


@pytest.mark.parametrize("part", [Echo(), Choir()], ids=["shared", "own"])
def test_a_topic_is_not_judged_while_what_it_follows_is_on_its_way(house: House, part: Topic) -> None:
    topic = GraphTopic("echo", part, load_topics()["resource"])
    subjects = house.catalogue.resource_ids(after=0, limit=100)
    assert _judge(house, topic, subjects) == dict.fromkeys(subjects, True)
    keeper = Keeper(house)
    keeper.new("http://www.rehemaa.test/0", b"<p>something else</p>", at(80))
    keeper.close()
    changed = house.catalogue.document("http://www.rehemaa.test/0").resource_id
    judged = _judge(house, topic, subjects)
    assert changed not in judged
    assert judged == ({} if isinstance(part, Choir) else dict.fromkeys(set(subjects) - {changed}, True))


def test_the_graph_is_not_judged_by_a_checkpoint_that_is_behind(house: House) -> None:
    topic = load_topics()["resource"]
    subjects = house.catalogue.resource_ids(after=0, limit=100)
    mark = house.catalogue.graph_record().mark
    assert mark is not None
    house.catalogue.record_descriptions(
        [], statements={}, mark=replace(mark, batch=mark.batch + 1)
    )  # written, and not published yet
    assert _judge(house, topic, subjects) == {}


def test_what_a_running_harvest_does_by_itself_is_no_ailment(data: Path) -> None:
    min(data.glob("archive/*.cdxj")).unlink()  # it has just finished that file
    with House(settings_of(data)) as house, lock_folder(data):
        assert [seen.ailments for seen in examine_house(house, deep=True)] == [()] * 4
