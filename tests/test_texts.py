"""Texts: any version can be read, by whoever asks, and what was read is kept; the same bytes are read once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rehi.app import House, lock_folder
from rehi.archive.derived import is_derived
from rehi.errors import BodyPruned, NotFound, ReadError, SettingsError
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.documents import list_documents, parse_term
from rehi.operations.readings import get_text, read_version
from rehi.operations.status import count_outdated
from rehi.serve import running
from rehi.service import Service
from rehi.settings import Settings, load_settings
from tests.cli.command_line import rehi
from tests.keeper import NOON, Keeper, at
from tests.serve.conftest import ask_at

PAGE, MIRROR, TABLE = "http://a.test/1/leht", "https://www.b.test/leht", "http://a.test/andmed.csv"
OLD = b"<title>Old</title><p>Mary Smith opened the new library in Leeds yesterday. <a href='more'>More</a>"
NEW = b"<title>New</title><p>John Brown closed the old library in London yesterday."


def settings_in(folder: Path) -> Settings:
    return load_settings(data=folder / "data", work={"workers": 1})


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a page of two versions, a mirror of the first, and a table; the newest are read."""
    settings = settings_in(tmp_path_factory.mktemp("original"))
    with House(settings) as house:
        keeper = Keeper(house)
        keeper.new(PAGE, OLD, at(0))
        keeper.new(MIRROR, OLD, at(1))
        keeper.new(TABLE, b"city,year\nLeeds,2024\n", at(1), media_type="text/csv")
        harvest(house)
        keeper.new(PAGE, NEW, at(2))
        keeper.new("http://a.test/pilt", b"\x89PNG\r\n\x1a\n" + bytes(50), at(2), media_type="image/png")
        keeper.close()
        harvest(house)
    return settings.data


@pytest.fixture
def house(original: Path, tmp_path: Path) -> Iterator[House]:
    """A copy of it for each test."""
    settings = settings_in(tmp_path)
    shutil.copytree(original, settings.data)
    with House(settings) as house:
        yield house


def harvest(house: House) -> None:
    with house.working() as wheel:
        wheel.run(until_idle=True, stopped=lambda: False)


def kept_readings(house: House) -> int:
    """How many records the derived files hold of readings that were made."""
    folder = house.settings.data / "derived"
    return sum(
        sum(line.startswith(b"WARC-Type: conversion") for line in _unpacked(file))
        for file in folder.iterdir()
        if is_derived(file.name)
    )


def _unpacked(file: Path) -> list[bytes]:
    import gzip

    return gzip.decompress(file.read_bytes()).split(b"\r\n")


def test_the_same_bytes_at_two_addresses_are_read_once(house: House) -> None:
    assert house.catalogue.totals(now=NOON).documents == 3
    assert kept_readings(house) == 3  # the old page, the table, the new page: not the mirror
    mirror = house.reading(house.catalogue.document(MIRROR).resource_id)
    assert (mirror.document.title, mirror.document.links) == ("Old", ("https://www.b.test/more",))
    assert get_text(house, url=PAGE, version=1).document.links == ("http://a.test/1/more",)
    assert [row.url for row in house.catalogue.documents(DocumentFilter(text="old"), Page())[0]] == [MIRROR]


def test_an_old_version_that_was_read_before_is_not_read_again(house: House) -> None:
    old = get_text(house, url=PAGE, version=1)
    assert (old.document.title, [name["name"] for name in old.facets["names"]]) == ("Old", ["Mary Smith", "Leeds"])
    assert get_text(house, url=PAGE, at="2026-03-02").document.title == "Old"
    assert get_text(house, url=PAGE).document.title == "New"
    assert kept_readings(house) == 3


def test_a_version_that_was_never_read_is_read_and_kept(house: House) -> None:
    keeper = Keeper(house)
    keeper.new(PAGE, b"<title>Late</title><p>An old crawl brought this.", NOON - timedelta(days=9))
    keeper.close()
    number = max(version.number for version in house.catalogue.versions(PAGE))
    for _ in range(2):
        assert get_text(house, url=PAGE, version=number).document.title == "Late"
    assert kept_readings(house) == 4
    harvest(house)
    assert kept_readings(house) == 4
    assert house.reading(house.catalogue.document(PAGE).resource_id).document.title == "New"


def test_while_somebody_harvests_they_keep_what_was_read(house: House) -> None:
    keeper = Keeper(house)
    keeper.new(TABLE, b"city,year\nYork,2025\n", at(5), media_type="text/csv")
    keeper.close()
    harvest(house)
    with House(house.settings) as plain:
        plain.settings = load_settings(data=house.settings.data, work={"workers": 1, "enrich": False})
        with lock_folder(house.settings.data):
            text = get_text(plain, url=TABLE, version=1)
        assert (text.document.text.split("\n\n"), text.facets) == (["city; year", "Leeds; 2024"], {})
        assert plain.catalogue.totals(now=NOON).to_read == 1
        before = kept_readings(plain)
        harvest(plain)
        assert kept_readings(plain) == before + 1
        assert get_text(plain, url=TABLE, version=1).document == text.document
        assert kept_readings(plain) == before + 1
    assert house.reading(house.catalogue.document(TABLE).resource_id).document.text.endswith("York; 2025")


def test_what_cant_be_read_says_why(house: House) -> None:
    with pytest.raises(ReadError, match="image/png"):
        get_text(house, url="http://a.test/pilt")
    with pytest.raises(NotFound, match="there are 1 to 2"):
        get_text(house, url=PAGE, version=9)
    with pytest.raises(NotFound):
        get_text(house, url="http://a.test/never")
    with pytest.raises(SettingsError, match="either"):
        get_text(house, url=PAGE, version=1, at="2026-03-02")


def test_bytes_that_were_dropped_are_said_to_be(house: House) -> None:
    with pytest.raises(BodyPruned, match="version 1"):
        read_version(house, replace(house.catalogue.versions(PAGE)[0], dropped=True))


def test_the_command_shows_the_text_of_any_version(house: House) -> None:
    data = house.settings.data
    shown = rehi("text", PAGE, "--version", "1", data=data)
    assert (shown.returncode, "Mary Smith opened" in shown.stdout) == (0, True)
    reading = json.loads(rehi("text", TABLE, "--json", data=data).stdout)
    assert reading["document"]["tables"][0]["header"] == ["city", "year"]
    assert rehi("text", PAGE, "--version", "1", "--at", "2026", data=data).returncode == 2
    assert rehi("text", "http://a.test/pilt", data=data).returncode == 1


def test_pages_and_api_show_versions_tables_workers_and_plugins(house: House) -> None:
    with running(house, Service(house), port=0) as address:
        ask = ask_at(address)
        assert ask(f"/api/text?url={PAGE}&version=1").json["document"]["title"] == "Old"
        assert ask(f"/api/text?url={PAGE}&version=7").status == 404
        assert ask(f"/api/text?url={PAGE}&version=1&at=2026").status == 400
        text = ask(f"/text?url={PAGE}&version=1").text
        assert "kind-person" in text
        assert "Version 1 of 2026-03-01" in text
        assert f"/text?url={PAGE.replace(':', '%3A')}" in ask(f"/versions?url={PAGE}").text
        table = house.catalogue.document(TABLE).resource_id
        assert "city, year" in ask(f"/documents/{table}").text
        assert ask(f"/api/documents/{table}").json["tables"][0]["rows"] == 1
        (worker,) = ask("/api/workers").json
        assert (worker["name"], worker["state"], worker["holds"]) == (house.worker, "stopped", "the graph")
        assert house.worker in ask("/workers").text
        parts = ask("/api/plugins").json
        assert {"group": "facet", "name": "names"}.items() <= next(
            part for part in parts if part["name"] == "names"
        ).items()
        assert "rehi.enrich.names:FACET" in ask("/plugins").text
        assert ask("/api/plugins?others=maybe").status == 400
        for path in ("/workers", "/plugins"):
            assert f'href="{path}"' in ask("/").text
        assert ask("/api/status").json["outdated"] == 0


def test_another_recipe_shows_what_is_out_of_date(house: House) -> None:
    totals = house.catalogue.totals(now=NOON)
    assert count_outdated(house, totals) == 0
    with House(load_settings(data=house.settings.data, work={"enrich": False})) as plain:
        assert count_outdated(plain, totals) == 3
    shown = rehi("stats", data=house.settings.data)
    assert "documents read by an older recipe" in shown.stdout
    assert "people" in shown.stdout


def test_a_term_is_a_field_and_a_value(house: House) -> None:
    assert (parse_term("sky:a:b").field, parse_term("sky:a:b").value) == ("sky", "a:b")
    for wrong in ("sky", ":x", "sky:"):
        with pytest.raises(SettingsError, match="as in topic:weather"):
            parse_term(wrong)
    assert list_documents(house, term=("sky:clear",)).total == 0
