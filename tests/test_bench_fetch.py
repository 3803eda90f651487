"""The parts of the fetch benchmark; the peers where their environment is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from bench.fetch import AIOHTTP, PEERS, SCRAPY, STRIPPED, judge
from bench.site import host, serve, write_pages


def measure(command: list[str]) -> dict[str, float]:
    """In a process of its own: it waits for whatever children it has."""
    meter = [sys.executable, "-m", "bench.fetch_meter", json.dumps([command])]
    printed = subprocess.run(
        meter, stdout=subprocess.PIPE, check=True, timeout=60, cwd=Path(__file__).parents[1]
    ).stdout
    cost: dict[str, float] = json.loads(printed)
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


def peers_python() -> str:
    folder = os.environ.get("REHI_SCRAPY", str(Path(__file__).parents[1] / ".venv-scrapy" / "bin"))
    python = Path(folder) / "python"
    if not python.exists():
        pytest.skip(f"the peers' environment is not at {folder}; `make bench NAME=fetch` puts it there")
    return str(python)


def test_aiohttp_with_warcio_keeps_every_page_as_we_do(root: Path, tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator

    python = peers_python()
    with serve(root, [f"/p/{number}.html" for number in range(60)], hosts=20, own_server=True) as site:
        (tmp_path / "urls.txt").write_text("\n".join(site.urls), encoding="utf-8")
        words = (str(tmp_path / "urls.txt"), str(tmp_path / "store"), str(tmp_path / "report"), "2")
        assert measure([python, "-m", "bench.fetch_aiohttp", *words])["code"] == 0
    assert json.loads((tmp_path / "report").read_text(encoding="utf-8"))["documents"] == 60
    with (tmp_path / "store" / "pages.warc.gz").open("rb") as file:
        kept = [
            record.content_stream().read()
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response"
        ]
    assert sorted(kept) == sorted((root / "p" / f"{number}.html").read_bytes() for number in range(60))
    items = [json.loads(line) for line in (tmp_path / "store" / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(item["text"] and item["title"] for item in items)


def test_the_better_way_of_each_peer_counts() -> None:
    def numbers(speed: float, cpu: float) -> dict[str, float]:
        return {"pages_per_second": speed, "cpu_ms_per_page": cpu, "main_peak_mb": 90.0}

    good = {"rehi": numbers(400, 1.0), STRIPPED: numbers(200, 2.0)}
    good |= {PEERS[SCRAPY][0]: numbers(50, 4.0), PEERS[SCRAPY][1]: numbers(100, 8.0)}
    good |= {PEERS[AIOHTTP][0]: numbers(300, 1.0), PEERS[AIOHTTP][1]: numbers(400, 2.0)}
    large, ceiling = {"main_peak_mb": 130.0}, {"pages_per_second": 1_000.0}
    assert judge(good, large, ceiling).ok
    for way, worse in (
        (PEERS[SCRAPY][1], numbers(101, 8.0)),
        (PEERS[SCRAPY][0], numbers(50, 3.9)),
        (PEERS[AIOHTTP][1], numbers(401, 2.0)),
        (PEERS[AIOHTTP][0], numbers(300, 0.9)),
    ):
        judged = judge({**good, way: worse}, large, ceiling)
        assert len(judged.missed) == 1, way
    assert not judge(good, {"main_peak_mb": 131.0}, ceiling).ok
