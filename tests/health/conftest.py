"""A small house that was harvested once, and a copy of it for each test to damage."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehi.app import House
from rehi.operations.hosts import set_orders
from rehi.operations.sources import enter
from rehi.settings import Settings, load_settings
from tests.keeper import Keeper, at

PAGES = 4
VERSIONS = 5
_TEXT = """<html><head><title>Page {page}</title></head><body><h1>Rehemaa</h1><p>Jaan Tamm ja Mari Kask kohtusid Tartus,
räägib Eesti Rahvusraamat. {words}</p></body></html>"""


def settings_of(data: Path) -> Settings:
    """The settings of a data folder, with one process that reads."""
    return load_settings(data=data, work={"workers": 1})


def harvest(data: Path) -> None:
    """Read and describe what waits; nothing is due, so that nothing is visited."""
    with House(settings_of(data)) as house, house.working() as work:
        work.run(until_idle=True, stopped=lambda: False)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with some pages in several files, read and described."""
    data = tmp_path_factory.mktemp("health") / "data"
    with House(settings_of(data)) as house:
        keeper = Keeper(house, file_bytes=2_500)
        for page in range(PAGES):
            last = None
            for number in range(VERSIONS):
                words = " ".join(f"sõna{page}{number}{word}" for word in range(60 + number))
                body = _TEXT.format(page=page, words=words).encode()
                url = f"http://www.rehemaa.test/{page}"
                last = keeper.new(url, body, at(number + page / 10), base=last.body if last else None)
            keeper.unchanged(f"http://www.rehemaa.test/{page}", at(40 + page))
        keeper.redirect("http://www.rehemaa.test/old", "http://www.rehemaa.test/0", at(61))
        keeper.seal()
        keeper.close()
        log = data.with_name("list.txt")
        log.write_text("http://www.rehemaa.test/never\n", encoding="utf-8")
        enter(house, str(log))  # it waits to be taken in
        (host,) = house.catalogue.host("www.rehemaa.test", now=at(0))
        set_orders(house, host_id=host.row.host_id, delay=7.5, why="it is a small one")
    harvest(data)
    return data


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "data"))


@pytest.fixture
def house(data: Path) -> Iterator[House]:
    with House(settings_of(data)) as opened:
        yield opened
