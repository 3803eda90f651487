"""Kills while pages change, deltas are written and files are sealed: every version that was acknowledged stays."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from rehi.app import House
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.verification import verify_all
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE, wait_until
from tests.changing_site import ChangingSite

KILLS = 5


def write_settings(folder: Path, port: int) -> Path:
    config = folder / "rehi.toml"
    config.write_text(
        f'data = "{folder / "data"}"\n'
        f'[fetch]\nallow_private = ["127.0.0.0/8"]\nports = [{port}]\ndelay = 0.05\n'
        "[archive]\nfile_bytes = 20000\n[work]\nworkers = 1\nenrich = false\n",
        encoding="utf-8",
    )
    return config


def rehi(config: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rehi", "--config", str(config), *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=5 * PATIENCE)
    assert process.returncode == 0, errors.decode()


def versions(config: Path) -> set[tuple[str, int, str]]:
    """All that is on record: address, number and digest."""
    with House(load_settings(config)) as house:
        rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=1000))
        return {
            (row.url, one.number, one.digest)
            for row in rows
            if row.versions
            for one in house.catalogue.versions(row.url)
        }


def _has_come_to(site: ChangingSite, requests: int, process: subprocess.Popen[bytes]) -> bool:
    return site.requests >= requests or process.poll() is not None


def test_every_version_that_was_acknowledged_stays(tmp_path: Path) -> None:
    chance, killed = random.Random(4), 0
    with ChangingSite() as site:
        config = write_settings(tmp_path, site.port)
        (tmp_path / "urls.txt").write_text("\n".join(site.urls))
        finish(rehi(config, "add", str(tmp_path / "urls.txt")))
        finish(rehi(config, "harvest"))
        known = versions(config)
        for number in range(KILLS):
            # After some of the 12 pages; every other time at once, else a moment later, when it keeps them or seals.
            wanted, process = site.requests + chance.randint(1, 10), rehi(config, "update")
            wait_until(partial(_has_come_to, site, wanted, process), what="it has asked for some pages", pause=0.002)
            time.sleep(chance.uniform(0, 0.5) if number % 2 else 0)
            killed += process.poll() is None
            process.kill()
            process.communicate()
            after = versions(config)
            assert known <= after
            known = after
        for _ in range(2):
            finish(rehi(config, "update"))
        finish(rehi(config, "harvest"))
        after = versions(config)
    assert known < after
    assert killed > KILLS / 2
    for url, _, digest in after:
        assert digest in site.said[url.removeprefix(site.origin)]
    with House(load_settings(config)) as house:
        assert verify_all(house).faults == []
        files = {walk.name for walk in house.archive.walks()}
        assert len(files) > 2
        assert sum(house.archive.is_sealed(file) for file in files) >= len(files) - 2
        kinds = {house.archive.fields_of(body.place).kind for body in house.catalogue.bodies()}
        assert kinds == {"response", "delta"}
