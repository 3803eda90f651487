"""What many tests share: the practice web, and a house that has harvested it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rehi.app import House
from rehi.cli.practice import fetch_settings
from rehi.desk.adding import enter, read_in
from rehi.settings import Settings, load_settings
from rehi.testing.world import World, WorldServer


@dataclass(frozen=True, slots=True)
class Harvested:
    """A data folder after one harvest of the small practice web, and that web."""

    settings: Settings
    server: WorldServer
    log: Path

    @property
    def world(self) -> World:
        return self.server.world


@pytest.fixture(scope="session")
def practice_web() -> Iterator[WorldServer]:
    with WorldServer(World(seed=1, small=True)) as server:
        yield server


def settings_for(folder: Path, server: WorldServer) -> Settings:
    return load_settings(data=folder / "data", fetch=fetch_settings(server.resolve_rules))


@pytest.fixture(scope="session")
def harvested(practice_web: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Harvested:
    folder = tmp_path_factory.mktemp("harvested")
    log = folder / "world.log"
    log.write_bytes(b"".join(practice_web.world.crawl_log()))
    settings = settings_for(folder, practice_web)
    with House(settings) as house:
        read_in(house, enter(house, str(log)).id)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
    return Harvested(settings, practice_web, log)
