"""The catalogue is deleted, emptied or begun anew by accident: it is seen, nothing goes on, and what can be comes back."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rehi.app import House
from rehi.engines.sql import open_catalogue
from rehi.errors import CatalogueLost
from rehi.operations.health import examine_house
from rehi.operations.sources import enter_file, upload_folder
from tests.cli.command_line import rehi
from tests.health.conftest import settings_of


def delete(data: Path) -> None:
    for path in data.glob("catalogue.db*"):
        path.unlink()


def delete_all_but_its_log(data: Path) -> None:
    delete(data)
    (data / "catalogue.db-wal").write_bytes(b"a log without its file")


def empty(data: Path) -> None:
    delete(data)
    (data / "catalogue.db").touch()


def begin_anew(data: Path) -> None:
    """As a version that did not look has done it."""
    delete(data)
    open_catalogue(f"sqlite:///{data / 'catalogue.db'}").close()


WAYS = [delete, delete_all_but_its_log, empty, begin_anew]
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
Way = Callable[[Path], None]


@pytest.fixture
def data(data: Path) -> Path:
    """The house has an uploaded source besides."""
    with House(settings_of(data)) as house:
        path = upload_folder(house) / "uploaded.txt"
        path.write_text("http://www.rehemaa.test/uploaded\n", encoding="utf-8")
        enter_file(house, path, name=path.name)
    return data


def doctor(data: Path, *words: str) -> tuple[int, Any]:
    said = rehi("doctor", *words, "--json", data=data)
    return said.returncode, json.loads(said.stdout)


@each_way
@pytest.mark.parametrize("words", [(), ("--deep",)], ids=["quick", "deep"])
def test_a_lost_catalogue_is_seen_and_none_is_made_by_looking(data: Path, way: Way, words: tuple[str, ...]) -> None:
    way(data)
    before = {path.name: path.stat().st_size for path in data.glob("catalogue*.db")}
    code, checks = doctor(data, *words)
    (catalogue,) = [check for check in checks if check["what"] == "catalogue"]
    assert (code, catalogue["ok"]) == (1, False)
    assert "rehi doctor --mend" in catalogue["cure"]
    assert "files of the archive" in catalogue["seen"]
    others = [check for check in checks if check["what"] in ("archive", "derived", "graph")]
    assert [(check["ok"], check["in_part"]) for check in others] == [(True, True)] * 3
    assert "in part" in rehi("doctor", *words, data=data).stdout
    assert {path.name: path.stat().st_size for path in data.glob("catalogue*.db")} == before


@each_way
@pytest.mark.parametrize(
    "words", [("harvest",), ("up",), ("add", "http://www.rehemaa.test/more"), ("stats",)], ids=" ".join
)
def test_nothing_goes_on_with_a_lost_catalogue(data: Path, way: Way, words: tuple[str, ...]) -> None:
    way(data)
    said = rehi(*words, data=data)
    assert said.returncode != 0
    assert "rehi doctor --mend" in said.stderr
    assert "files of the archive and uploaded sources" in said.stderr


@each_way
def test_mending_brings_back_what_it_can_and_says_what_only_the_catalogue_knew(data: Path, way: Way) -> None:
    way(data)
    code, mended = doctor(data, "--mend")
    assert code == 1
    assert any("the catalogue was lost, and begun anew: 20 versions" in line for line in mended["done"])
    assert "1 uploaded sources were entered again, and are read by the next harvest" in mended["done"]
    said = " ".join(mended["missing"])
    assert all(words in said for words in ("by a path or a URL", "ordered", "URLs that never answered"))
    assert (mended["lost"], mended["records"], mended["ailing"]) == ([], [], [])
    with House(settings_of(data)) as house:
        assert [source.name for source in house.catalogue.sources()] == ["uploaded.txt"]
        assert [seen.ailments for seen in examine_house(house, deep=True)] == [()] * 4
    assert doctor(data, "--mend") == (0, {"done": [], "lost": [], "records": [], "missing": [], "ailing": []})
    assert rehi("stats", data=data).returncode == 0


def test_people_read_what_is_missing(data: Path) -> None:
    delete(data)
    said = rehi("doctor", "--mend", data=data)
    assert "Only the catalogue knew, and it can't be brought back:\n- sources that were added" in said.stdout


def test_a_graph_alone_tells_that_there_was_a_catalogue(data: Path) -> None:
    delete(data)
    shutil.rmtree(data / "archive")
    shutil.rmtree(data / "sources")
    with House(settings_of(data)) as house, pytest.raises(CatalogueLost, match="a graph"):
        house.catalogue.check()
    assert doctor(data)[0] == 1
    assert doctor(data, "--mend")[0] == 1
    assert rehi("stats", data=data).returncode == 0


def test_a_new_folder_is_looked_at_without_making_a_catalogue(tmp_path: Path) -> None:
    _, checks = doctor(tmp_path / "new")
    assert [check["what"] for check in checks if check["in_part"] or check["ailments"]] == []
    assert not (tmp_path / "new" / "catalogue.db").exists()


def test_a_catalogue_that_is_begun_in_an_empty_folder_is_not_lost(tmp_path: Path) -> None:
    for _ in range(2):
        assert rehi("harvest", data=tmp_path / "new").returncode == 0
    assert rehi("stats", data=tmp_path / "new").returncode == 0


def test_a_file_that_is_no_database_is_mended_and_its_cure_is_no_setting(data: Path) -> None:
    (data / "catalogue.db").write_bytes(b"no database at all" * 1000)
    _, checks = doctor(data)
    (engine,) = [check for check in checks if check["what"] == "engine of the catalogue"]
    assert not engine["ok"]
    assert "rehi doctor --mend" in engine["cure"]
    assert "setting" not in engine["cure"]
    code, mended = doctor(data, "--mend")
    assert (code, mended["ailing"]) == (1, [])
    assert any("by a path or a URL" in line for line in mended["missing"])
    assert "1 uploaded sources were entered again, and are read by the next harvest" in mended["done"]


def test_a_damaged_history_is_not_brought_back(data: Path) -> None:
    with closing(sqlite3.connect(data / "catalogue.db", isolation_level=None)) as connection:
        (ids,) = connection.execute("SELECT id, url FROM resource WHERE versions > 0 LIMIT 1").fetchall()
        connection.execute("UPDATE resource SET history = randomblob(40) WHERE id = ?", ids[:1])
    assert doctor(data, "--deep")[0] == 1
    code, mended = doctor(data, "--mend")
    assert (code, mended["ailing"], mended["missing"]) == (0, [], [])
    with House(settings_of(data)) as house:
        assert house.catalogue.document(ids[1]).resource_id == ids[0]
        assert [seen.ailments for seen in examine_house(house, deep=True)] == [()] * 4


def test_a_damaged_history_of_a_host_costs_neither_its_orders_nor_its_pages(data: Path) -> None:
    with closing(sqlite3.connect(data / "catalogue.db", isolation_level=None)) as connection:
        before = connection.execute("SELECT id, url FROM resource ORDER BY id").fetchall()
        connection.execute("UPDATE host SET history = randomblob(40)")
    code, mended = doctor(data, "--mend")
    assert (code, mended["ailing"], mended["missing"]) == (0, [], [])
    with closing(sqlite3.connect(data / "catalogue.db")) as connection:
        assert connection.execute("SELECT id, url FROM resource ORDER BY id").fetchall() == before
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (1,)


def test_sources_that_can_not_be_read_any_more_are_said_to_be_missing(data: Path) -> None:
    with closing(sqlite3.connect(data / "catalogue.db", isolation_level=None)) as connection:
        connection.execute("UPDATE source SET key = x'00' WHERE name = 'list.txt'")
    code, mended = doctor(data, "--mend")
    assert code == 1
    assert mended["missing"] == ["some sources, whose rows in the catalogue are damaged"]
    assert mended["ailing"] == []
