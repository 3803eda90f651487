"""Several workers on one catalogue with a shared bucket do together what one does alone, whoever is killed."""

from __future__ import annotations

import json
import random
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rehi.app import House
from rehi.cli.practice import fetch_settings
from rehi.model.listing import DocumentFilter, Page
from rehi.serve import running
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.postgres import PostgresServer
from rehi.testing.s3 import BUCKET, S3Server
from rehi.testing.snapshot import Snapshot, is_read, take_snapshot
from rehi.testing.waiting import PATIENCE, wait_until
from rehi.testing.world import World, WorldServer
from tests.serve.conftest import ask_at

LONGEST = 10 * PATIENCE  # seconds for a harvest, on any machine
KILLS = 6


@pytest.fixture(scope="module")
def web() -> Iterator[WorldServer]:
    with WorldServer(World(seed=1, small=True), port=0) as server:
        yield server


@dataclass(slots=True)
class Crew:
    """Workers with data folders of their own on one catalogue and one bucket."""

    folder: Path
    web: WorldServer
    catalogue: str
    bucket: str
    endpoint: str
    delay: float
    configs: list[Path] = field(default_factory=list)

    def hire(self) -> Path:
        """Write the settings of another worker."""
        folder = self.folder / f"worker-{len(self.configs)}"
        folder.mkdir()
        patient = {"timeout": 40.0, "connect_timeout": 15.0, "stall_timeout": 15.0, "max_bytes": 3_000_000}
        fetch = (
            fetch_settings(self.web.resolve_rules) | {"delay": self.delay} | patient
        )  # whatever else the machine does
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in fetch.items())
        config = folder / "rehi.toml"
        config.write_text(
            f'data = "{folder / "data"}"\ncatalogue = "{self.catalogue}"\n[fetch]\n{lines}[work]\nworkers = 1\n'
            f'[archive]\nuri = "{self.bucket}"\nendpoint = "{self.endpoint}"\nfile_bytes = 200000\nlocal_bytes = 0\n',
            encoding="utf-8",
        )
        self.configs.append(config)
        return config

    def start(self, config: Path, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "rehi", "--config", str(config), *words]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def run(self, config: Path, *words: str) -> None:
        process = self.start(config, *words)
        _, errors = process.communicate(timeout=LONGEST)
        assert process.returncode == 0, errors.decode()

    def harvest_together(self, *, kills: int, seed: int) -> None:
        """Let all work at once, kill one after another at random and start it again, and let them finish."""
        chance = random.Random(seed)
        processes = {config: self.start(config, "harvest") for config in self.configs}
        try:
            for _ in range(kills):
                self._wait_for_requests(chance.randint(3, 15), processes)
                config = chance.choice(self.configs)
                processes[config].kill()
                processes[config].communicate()
                processes[config] = self.start(config, "harvest")
            for process in processes.values():
                _, errors = process.communicate(timeout=LONGEST)
                assert process.returncode == 0, errors.decode()
        finally:
            for process in processes.values():
                process.kill()
                process.communicate()
        for config in [*self.configs, *self.configs]:  # what was left to others by those who ended first
            self.run(config, "harvest")

    def _wait_for_requests(self, count: int, processes: dict[Path, subprocess.Popen[bytes]]) -> None:
        """Wait until so many more requests have come, or nobody makes any."""
        wanted = len(self.web.requests) + count
        wait_until(
            lambda: len(self.web.requests) >= wanted or all(one.poll() is not None for one in processes.values()),
            what="more pages are visited",
            seconds=LONGEST,
        )


def make_crew(
    folder: Path, web: WorldServer, postgres: PostgresServer, s3: S3Server, *, workers: int, delay: float
) -> Crew:
    name = f"crew_{secrets.token_hex(4)}"
    crew = Crew(folder, web, postgres.uri(name), f"s3://{BUCKET}/{name}", s3.endpoint, delay)
    for _ in range(workers):
        crew.hire()
    log = folder / "world.log"
    log.write_bytes(b"".join(web.world.crawl_log()))
    crew.run(crew.configs[0], "add", str(log))
    return crew


@pytest.fixture(scope="module")
def alone(
    web: WorldServer, postgres: PostgresServer, s3: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> Snapshot:
    """What one undisturbed worker keeps."""
    crew = make_crew(tmp_path_factory.mktemp("alone"), web, postgres, s3, workers=1, delay=0.0)
    crew.run(crew.configs[0], "harvest")
    with House(load_settings(crew.configs[0])) as house:
        return take_snapshot(house)


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_that_are_killed_do_together_what_one_does_alone(
    web: WorldServer, postgres: PostgresServer, s3: S3Server, alone: Snapshot, tmp_path: Path, workers: int
) -> None:
    crew = make_crew(tmp_path, web, postgres, s3, workers=workers, delay=0.2)
    crew.harvest_together(kills=KILLS, seed=workers)
    owner = _owner(crew)
    with House(load_settings(owner)) as house:
        together = take_snapshot(house)
    assert together.resources == alone.resources
    assert together.versions == alone.versions
    assert together.documents == alone.documents
    assert together.names == alone.names
    assert together.texts == alone.texts
    assert together.problems == alone.problems
    assert set(together.records) == set(alone.records)
    assert together.statements == alone.statements
    for config in crew.configs:
        _check_pages(config, alone, crew_size=workers)


def _owner(crew: Crew) -> Path:
    """The settings of the worker that owns the graph."""
    for config in crew.configs:
        with House(load_settings(config)) as house:
            if not house.graph_owner:
                return config
    raise AssertionError("nobody owns the graph")


def _check_pages(config: Path, alone: Snapshot, *, crew_size: int) -> None:
    """Every document is shown by this worker, with its text, and all workers are listed."""
    with House(load_settings(config, serve={"port": 0}, work={"graph": False})) as house:
        rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=500))
        shown = {row.url: house.reading(row.resource_id).document.text for row in rows if is_read(house, row)}
        assert shown == alone.texts
        service = Service(house)
        with running(house, service, port=0) as address:
            ask = ask_at(address)
            for row in rows:
                assert ask(f"/documents/{row.resource_id}").status == 200, row.url
            assert len({worker["name"] for worker in ask("/api/workers").json}) == crew_size
            assert ask("/workers").status == 200
