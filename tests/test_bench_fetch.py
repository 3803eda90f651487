"""The parts of the fetch benchmark, without the peer."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from bench.site import host, serve, write_pages


def measure(command: list[str]) -> dict[str, float]:
    """In a process of its own: it waits for whatever children it has."""
    meter = [sys.executable, "-m", "bench.fetch_meter", json.dumps([command])]
    said = subprocess.run(meter, stdout=subprocess.PIPE, check=True, timeout=60, cwd=Path(__file__).parents[1]).stdout
    cost: dict[str, float] = json.loads(said)
    return cost


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "root"
    write_pages(folder, 60)
    return folder


def test_no_two_pages_are_alike_and_all_are_of_an_ordinary_size(root: Path) -> None:
    pages = [file.read_bytes() for file in (root / "p").iterdir()]
    assert len(set(pages)) == 60
    assert 2_000 < min(map(len, pages)) <= max(map(len, pages)) < 40_000


def test_every_host_is_an_address_of_its_own(root: Path) -> None:
    assert len({host(number) for number in range(600)}) == 600
    with serve(root, ["/p/1.html", "/p/2.html", "/robots.txt"], hosts=3, own_server=True) as site:
        answers = [urllib.request.urlopen(url, timeout=10).read() for url in site.urls]
    assert answers[0] == (root / "p/1.html").read_bytes() != answers[1]
    assert answers[2].startswith(b"User-agent")


def test_a_page_that_is_not_there_is_not_found(root: Path) -> None:
    with serve(root, ["/../../etc/passwd"], hosts=1, own_server=True) as site:
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(site.urls[0], timeout=10)
        error.value.close()
    assert error.value.code == 404


@pytest.mark.skipif(sys.platform != "linux", reason="orphans can only be counted on Linux")
def test_the_meter_counts_those_who_outlive_their_parents() -> None:
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    cost = measure(["/bin/sh", "-c", f"{sys.executable} -c '{burn}' &"])
    assert cost["cpu_seconds"] >= 0.5


def test_our_side_brings_every_page(root: Path, tmp_path: Path) -> None:
    paths = [f"/p/{number}.html" for number in range(60)]
    with serve(root, paths, hosts=20, own_server=True) as site:
        (tmp_path / "urls.txt").write_text("\n".join(site.urls), encoding="utf-8")
        report = tmp_path / "report"
        command = [
            sys.executable,
            "-m",
            "bench.fetch_rehi",
            str(tmp_path / "urls.txt"),
            str(tmp_path / "data"),
            str(report),
        ]
        assert measure(command)["code"] == 0
    told = json.loads(report.read_text(encoding="utf-8"))
    assert told["documents"] == 60
    assert told["room_keep"] > 0
