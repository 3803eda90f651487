"""The doctor as people and programs ask for it, and a page whose derived file is damaged."""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from rehi.app import House
from rehi.app.folder_lock import lock_folder
from rehi.cli import cli
from rehi.errors import DataFolderBusy
from rehi.model.generation import GraphMark
from rehi.serve import running
from rehi.service import Service
from rehi.testing.waiting import PATIENCE
from tests.conftest import Harvested
from tests.health.damage import cut_derived, delete_archive, flip_index

NOTHING_LOST: dict[str, list[object]] = {"lost": [], "records": [], "missing": [], "ailing": []}


def run(data: Path, *words: str) -> tuple[int, object]:
    """The exit code of a command, and what it says as JSON."""
    result = CliRunner().invoke(cli, ["--data", str(data), *words, "--json"], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value or 0, json.loads(result.stdout)


def test_the_command_names_what_ails_and_mends_it(data: Path) -> None:
    flip_index(data)
    code, checks = run(data, "doctor")
    assert isinstance(checks, list)
    (archive,) = [check for check in checks if check["what"] == "archive"]
    assert (code, archive["ok"], archive["ailments"][0]["part"]) == (1, False, "index")
    assert "rehi doctor --mend" in archive["cure"]
    assert run(data, "doctor", "--mend") == (0, {"done": ["1 indexes were made again"], **NOTHING_LOST})
    _, checks = run(data, "doctor", "--deep")
    assert isinstance(checks, list)
    assert [check["ailments"] for check in checks if check["ailments"]] == []


def test_a_whole_harvest_of_the_practice_web_is_well(harvested: Harvested, tmp_path: Path) -> None:
    data = Path(shutil.copytree(harvested.settings.data, tmp_path / "data"))
    assert ailing(data, "--deep") == []
    assert run(data, "doctor", "--mend") == (0, {"done": [], **NOTHING_LOST})


def ailing(data: Path, *words: str) -> list[object]:
    """What the doctor lists as ailments."""
    _, checks = run(data, "doctor", *words)
    assert isinstance(checks, list)
    return [ailment for check in checks for ailment in check["ailments"]]


def test_the_command_does_not_mend_beside_a_harvest(data: Path) -> None:
    with lock_folder(data):
        result = CliRunner().invoke(cli, ["--data", str(data), "doctor", "--mend"], standalone_mode=False)
    assert isinstance(result.exception, DataFolderBusy)


@pytest.fixture
def ask(house: House) -> Iterator[Callable[..., str]]:
    """What an address answers, with the harvest not running; anything but 200 is an error."""
    with running(house, Service(house), port=0) as address:

        def get(path: str, body: bytes | None = None) -> str:
            kind = {"content-type": "application/json"} if body else {"accept": "text/html"}
            request = urllib.request.Request(address + path, data=body, headers=kind)
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return str(answer.read().decode())

        yield get


def test_an_answer_of_a_graph_that_is_not_whole_bears_a_header(house: House) -> None:
    house.catalogue.begin_graph(GraphMark(generation="new", batch=0), rewrite="it was lost")
    with running(house, Service(house), port=0) as address:
        query = f"{address}sparql?query=ASK%20%7B%7D"
        with urllib.request.urlopen(query, timeout=PATIENCE) as answer:
            assert answer.headers["rehi-incomplete"].endswith("from the catalogue: it was lost.")
        for page in (query, address):
            request = urllib.request.Request(page, headers={"accept": "text/html"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                assert "it was lost" in answer.read().decode()


def test_it_can_be_asked_over_http_and_names_no_path(data: Path, ask: Callable[..., str]) -> None:
    delete_archive(data)
    answer = ask("api/doctor", b'{"deep": true}')
    assert "the file is not there" in answer
    assert str(data) not in answer


def test_a_page_whose_derived_file_is_damaged_shows_its_text(data: Path, house: House, ask: Callable[..., str]) -> None:
    cut_derived(data)
    for number in range(4):
        document = house.catalogue.document(f"http://www.rehemaa.test/{number}").resource_id
        assert f"sõna{number}" in ask(f"documents/{document}")


def test_a_page_of_which_all_is_damaged_says_what_to_do(data: Path, house: House, ask: Callable[..., str]) -> None:
    cut_derived(data)
    for path in data.glob("archive/*.warc.gz"):
        path.write_bytes(path.read_bytes()[:200])
    document = house.catalogue.document("http://www.rehemaa.test/3").resource_id
    assert "rehi doctor --mend" in ask(f"documents/{document}")
