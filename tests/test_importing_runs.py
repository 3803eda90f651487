"""Runs of an intake of crawls made elsewhere: stopped, killed, or beside a harvest."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from rehi.app import House
from rehi.model.capture import CaptureFilter
from rehi.model.source import SourceState
from rehi.operations.sources import enter, read_in
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.waiting import wait_until
from tests.test_importing import JUNE, PAGE, A, check_files
from tests.warcs import members, request, response


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with House(load_settings(data=tmp_path / "data", work={"workers": 1})) as house:
        yield house


def test_it_stops_when_it_is_told_to_and_goes_on_there(house: House, tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(members(response(f"{A}{n}", str(n).encode()) for n in range(500)))
    source = enter(house, str(path))
    shown: list[float] = []
    stopped = read_in(house, source.id, on_progress=shown.append, cancelled=lambda: True)
    assert (stopped.state, stopped.counts["kept"]) == (SourceState.READING, 200)
    assert 0 < int(stopped.cursor) < path.stat().st_size
    assert 0 < stopped.share < 1
    done = read_in(house, source.id, on_progress=shown.append)
    assert (done.state, done.counts["kept"], done.counts["records"]) == (SourceState.DONE, 500, 500)
    assert (shown == sorted(shown), shown[-1]) == (True, 1.0)


def test_a_crawl_is_taken_in_while_a_harvest_is_up(house: House, tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(members([response(A, PAGE)]))
    service = Service(house)
    service.start()
    try:
        service.start_source(enter(house, str(path)).id)
        documents = wait_until(
            lambda: service.error or house.catalogue.totals(now=JUNE).documents, what="the page of the crawl is read"
        )
        assert documents == 1
    finally:
        service.stop()


def test_kills_at_any_time_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    chance = random.Random(os.getpid())
    path = tmp_path / "crawl.warc.gz"
    pages = [chance.randbytes(chance.randrange(100, 6_000)) for _ in range(60)]
    visits = [(f"http://h{n % 7}.ee/{n % 900}", 1 + n // 900, pages[n % 60]) for n in range(2_000)]
    path.write_bytes(
        members(
            make(url, *body, date=f"2015-06-{day:02}T10:00:00Z")
            for url, day, page in visits
            for make, body in ((request, ()), (response, (page,)))
        )
    )
    kills = 0
    for _ in range(10):
        command = [sys.executable, "-c", _ADD, str(tmp_path / "data"), str(path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()  # it begins
        time.sleep(chance.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() < 0
        process.stdout.close()
        if kills >= 2 or process.returncode == 0:
            break
    with House(load_settings(data=tmp_path / "data")) as house:
        source = read_in(house, enter(house, str(path)).id)
        assert (source.state, source.counts["records"]) == (SourceState.DONE, 4_000)
        captures = list(house.catalogue.captures(CaptureFilter()))
        assert [(seen.url, seen.at.day, seen.digest) for seen in captures] == sorted(
            (url, day, f"sha256:{sha256(page).hexdigest()}") for url, day, page in visits
        )
        assert house.catalogue.totals(now=JUNE).visits == 2_000
        check_files(house)
        for seen in captures[::50]:
            assert seen.body is not None
            assert f"sha256:{sha256(house.archive.open_body(seen.body).read()).hexdigest()}" == seen.digest
    assert kills


_ADD = """
import sys
from pathlib import Path
from rehi.app import House
from rehi.operations.sources import enter, read_in
from rehi.settings import load_settings
with House(load_settings(data=Path(sys.argv[1]))) as house:
    source = enter(house, sys.argv[2])
    print("begins", flush=True)
    read_in(house, source.id)
"""
