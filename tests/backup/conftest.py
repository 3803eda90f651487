"""A small house that was harvested once, and a site that lets as many pages out as it is told."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rehi.app import House
from rehi.cli.practice import fetch_settings
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.sources import enter, read_in
from rehi.settings import Settings, load_settings
from rehi.testing.waiting import PATIENCE

URLS = [f"http://h{host}.test/{page}" for host in range(2) for page in range(8)]


def page_of(url: str) -> bytes:
    words = " ".join(sha256(f"{url} {number}".encode()).hexdigest() for number in range(50))
    return f"<!doctype html><title>{url}</title><p>Katrin Paio elab Tallinnas. {words}".encode()


class GatedSite:
    """Serves every page, or only as many as were let out."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._gate = threading.Semaphore(0)
        self.gated = False

    def let_out(self, count: int = 1) -> None:
        self._gate.release(count)

    def wait(self) -> None:
        if self.gated:
            self._gate.acquire(timeout=PATIENCE)


@pytest.fixture(scope="session")
def site() -> Iterator[GatedSite]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = f"http://{self.headers['Host']}{self.path}"
            body = page_of(url) if url in URLS else b""
            if body:
                opened.wait()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        opened = GatedSite(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield opened
        server.shutdown()
        thread.join()


# A page may be held back for as long as a test takes, and no host is let rest for that.
PATIENT = {"timeout": 900.0, "connect_timeout": 60.0, "stall_timeout": 900.0, "slow_factor": 0.0, "soft_errors": False}


def settings_of(data: Path, site: GatedSite, **more: Any) -> Settings:
    fetch = fetch_settings([f"*.test=127.0.0.1:{site.port}"]) | PATIENT
    return load_settings(data=data, fetch=fetch, work={"workers": 1}, **more)


def add_urls(house: House, folder: Path) -> None:
    urls = folder / "urls.txt"
    urls.write_text("\n".join(URLS), encoding="ascii")
    read_in(house, enter(house, str(urls)).id)


def harvest(settings: Settings) -> None:
    with House(settings) as house, house.working() as wheel:
        wheel.run(until_idle=True, stopped=lambda: False)


@dataclass(frozen=True, slots=True)
class Backed:
    """A house of a test's own, a place for its backups, and the site."""

    settings: Settings
    place: str
    site: GatedSite

    @property
    def data(self) -> Path:
        return self.settings.data


@pytest.fixture(scope="session")
def harvested_once(site: GatedSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backed")
    settings = settings_of(folder / "data", site)
    with House(settings) as house:
        add_urls(house, folder)
    harvest(settings)
    return settings.data


@pytest.fixture
def backed(harvested_once: Path, tmp_path: Path, site: GatedSite) -> Backed:
    shutil.copytree(harvested_once, tmp_path / "data", symlinks=True)
    return Backed(settings_of(tmp_path / "data", site), str(tmp_path / "backups"), site)


def check_bodies(house: House, *, least: int = len(URLS)) -> None:
    """Every version that the catalogue lists is there, and has the bytes that the site served."""
    rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=100))
    versions = [version for row in rows if row.versions for version in house.catalogue.versions(row.url)]
    assert len(versions) >= least
    pages = {f"sha256:{sha256(page_of(url)).hexdigest()}" for url in URLS}
    for version in versions:
        with house.archive.open_body(version.body) as body:
            assert f"sha256:{sha256(body.read()).hexdigest()}" == version.digest
        assert version.digest in pages
