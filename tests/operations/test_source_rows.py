"""What a source waits for: in words, in the API, and with --json, which are equal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rehi.app import House
from rehi.model.worker import Worker
from rehi.operations.source_rows import Awaits, make_row, state_in_words
from rehi.operations.sources import enter, get_source, list_sources
from rehi.serve import running
from rehi.service import Service
from rehi.settings import load_settings
from tests.cli.command_line import rehi
from tests.serve.conftest import ask_at

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FILE = "http://a.test/\n"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    (tmp_path / "mine.txt").write_text(FILE, encoding="utf-8")
    with House(load_settings(data=tmp_path / "data")) as house:
        yield house


def of_another_worker(house: House) -> int:
    added = house.catalogue.add_source(
        kind="url-list", name="theirs.txt", location="/far/theirs.txt", size=9, worker="far", now=NOW
    )
    return house.catalogue.start_source(added.id, now=NOW).id


def test_a_source_that_nobody_has_started_waits_for_that(house: House, tmp_path: Path) -> None:
    row = make_row(house, enter(house, str(tmp_path / "mine.txt")))
    assert (row.awaits, row.awaits_url, row.awaits_worker) == (Awaits.START, "", "")


def test_a_source_at_an_address_waits_for_a_visit_of_it(house: House) -> None:
    entered = enter(house, "http://a.test/urls.txt")
    started = house.catalogue.start_source(entered.id, now=NOW)
    row = make_row(house, started)
    assert (row.awaits, row.awaits_url, row.awaits_worker) == (Awaits.VISIT, "http://a.test/urls.txt", "")
    assert state_in_words(house, started) == "waits for http://a.test/urls.txt"


def test_a_file_on_another_machine_waits_for_its_worker_unless_that_one_works(house: House) -> None:
    number = of_another_worker(house)
    row = get_source(house, source_id=number)
    assert (row.awaits, row.awaits_url, row.awaits_worker) == (Awaits.WORKER, "", "far")
    assert row.location == "theirs.txt"
    assert state_in_words(house, house.catalogue.source(number)) == "waits for the worker far"
    now = house.catalogue.clock()
    house.catalogue.sign(Worker(name="far", started_at=now - timedelta(hours=1), seen_at=now))
    assert (get_source(house, source_id=number).awaits, get_source(house, source_id=number).worker) == ("", "far")


def test_the_command_and_the_api_say_the_same(house: House, tmp_path: Path) -> None:
    enter(house, str(tmp_path / "mine.txt"))
    house.catalogue.start_source(enter(house, "http://a.test/urls.txt").id, now=NOW)
    number = of_another_worker(house)
    printed = json.loads(rehi("source", "--json", data=house.settings.data).stdout)
    one = json.loads(rehi("source", str(number), "--json", data=house.settings.data).stdout)
    kept = json.loads(rehi("source", str(number), "--keep", "last 5", "--json", data=house.settings.data).stdout)
    with running(house, Service(house), port=0) as address:
        assert ask_at(address)(f"/api/sources/{number}").json == kept == one | {"keep": "last 5"}
        listed = ask_at(address)("/api/sources").json
    assert [row | {"keep": ""} for row in listed] == printed
    assert {(row["awaits"], row["awaits_url"], row["awaits_worker"]) for row in printed} == {
        ("worker", "", "far"),
        ("visit", "http://a.test/urls.txt", ""),
        ("start", "", ""),
    }
    assert len(list_sources(house)) == 3
