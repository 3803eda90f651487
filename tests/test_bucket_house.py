"""A house whose archive is in a bucket: harvested, killed, and read from elsewhere."""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rehi.app import House
from rehi.app.places import open_archive, open_shelf
from rehi.cli.practice import fetch_settings
from rehi.engines.bucket import BucketShelf
from rehi.engines.bucket.store import Store
from rehi.engines.local import LocalExecutor
from rehi.errors import ArchiveAway
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.model.work import Claim, ReadTask
from rehi.pipeline.reading import ReadDocument, ReadingPlan, current_recipe, read_documents
from rehi.settings import Settings, load_settings
from rehi.testing.contracts.work import in_environment
from rehi.testing.s3 import BUCKET, S3Server
from rehi.testing.waiting import PATIENCE, wait_until
from tests.cli.command_line import rehi
from tests.conftest import PATIENT

HOSTS, PAGES = 4, 20
FILE_BYTES = 12_000  # so that there are about eight files
URLS = [f"http://h{host}.test/{page}" for host in range(HOSTS) for page in range(PAGES)]


def page_of(url: str) -> bytes:
    """Text that does not compress to nothing."""
    words = random.Random(url).choices([f"sõna{number}" for number in range(3_000)], k=300)
    return f"<!doctype html><title>{url}</title><p>{' '.join(words)}".encode()


class PausingHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pause = 0.0

    def do_GET(self) -> None:
        url = f"http://{self.headers['Host']}{self.path}"
        time.sleep(self.pause)
        body = page_of(url) if url in URLS else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), PausingHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def slow_site(site: int) -> Iterator[int]:
    """A harvest of it takes a second or two."""
    PausingHandler.pause = 0.05
    yield site
    PausingHandler.pause = 0.0


class Bucketed:
    """A data folder with a bucket, and the command line in it."""

    def __init__(self, folder: Path, site: int, s3: S3Server) -> None:
        self.folder = folder
        self.store = Store(f"s3://{BUCKET}/{secrets.token_hex(6)}", endpoint=s3.endpoint)
        fetch = fetch_settings([f"*.test=127.0.0.1:{site}"]) | PATIENT
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in fetch.items())
        self.config = folder / "rehi.toml"
        self.config.write_text(
            f'data = "{folder / "data"}"\n[fetch]\n{lines}[work]\nworkers = 1\nenrich = false\ngraph = false\npatience = 2\n'
            f'[archive]\nuri = "{self.store.uri}"\nendpoint = "{s3.endpoint}"\nfile_bytes = {FILE_BYTES}\n'
            "local_bytes = 0\n",
            encoding="utf-8",
        )
        self.urls = folder / "urls.txt"
        self.urls.write_text("\n".join(URLS), encoding="ascii")
        self.run("add", str(self.urls))

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A command in a process of its own, which can be killed."""
        command = [sys.executable, "-m", "rehi", "--config", str(self.config), *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words: str, status: int | tuple[int, ...] = 0) -> str:
        """What a command says, on either stream."""
        done = rehi("--config", str(self.config), *words)
        assert done.returncode in (status if isinstance(status, tuple) else (status,)), done.stderr
        return done.stdout + done.stderr

    def settings(self, **changed: object) -> Settings:
        return load_settings(self.config, **changed)

    def elsewhere(self) -> Settings:
        """The same catalogue and bucket from another data folder, in which nothing is."""
        catalogue = f"sqlite:///{self.folder / 'data' / 'catalogue.db'}"
        return self.settings(data=self.folder / "elsewhere", catalogue=catalogue)

    def local(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "data" / "archive").glob("*.warc.gz"))

    def there(self, suffix: str = ".warc.gz") -> list[str]:
        return sorted(found.name for found in self.store.list() if found.name.endswith(suffix))

    def seal_the_rest(self) -> None:
        """Have the file that is open brought too, as it is when it is large enough."""
        shelf = open_shelf(self.folder / "data" / "archive", self.settings().archive)
        assert isinstance(shelf, BucketShelf)
        shelf.start_uploads()
        for file in self.local():
            shelf.seal(file)
        assert shelf.wait(PATIENCE)
        shelf.close()
        assert self.local() == []


def check_bodies(settings: Settings) -> None:
    """Every page has exactly one version, and the archive gives back the bytes that the site served."""
    with House(settings) as house:
        for url in URLS:
            (version,) = house.catalogue.versions(url)
            with house.archive.open_body(version.body) as body:
                assert sha256(body.read()).digest() == sha256(page_of(url)).digest()


def check_workers(settings: Settings, s3: S3Server) -> None:
    """Worker processes, which are forked and may use little memory, read from the bucket themselves."""
    executor = LocalExecutor(1, timeout=PATIENCE, memory=settings.work.memory)
    with House(settings) as house:
        tasks = []
        for number, url in enumerate(URLS[::10]):
            (version,) = house.catalogue.versions(url)
            tasks.append(
                ReadTask(
                    claim=Claim("read", number, ()), blob_id=number, resource_id=number, source_id=1, version_id=number, url=url, digest=version.digest,
                    size=version.size, media_type="text/html", body=version.body,
                )
            )  # fmt: skip
        plan = ReadingPlan(
            open_archive=partial(open_archive, house.archive_folder, settings.archive),
            worker="w",
            work=settings.work,
            recipe=current_recipe(settings.work),
        )
        try:
            outcomes = executor.submit(
                in_environment, s3.environment, read_documents, plan, tasks, datetime.now(UTC)
            ).result()
        finally:
            executor.close()
    assert [type(outcome) for outcome in outcomes] == [ReadDocument] * len(tasks)


def test_a_harvest_goes_into_the_bucket_and_is_read_from_another_folder(
    tmp_path: Path, site: int, s3: S3Server
) -> None:
    here = Bucketed(tmp_path, site, s3)
    here.run("harvest")
    assert len(here.there()) >= 4
    assert len(here.there(".cdxj")) == len(here.there())
    assert not set(here.local()) & set(here.there())
    assert len(here.local()) <= 1
    with House(here.settings()) as house:
        line = house.check_archive()
    assert "conditional put" in line
    assert "0 files wait" in line
    check_bodies(here.settings())
    here.seal_the_rest()
    check_bodies(here.elsewhere())
    check_workers(here.elsewhere(), s3)
    assert not (tmp_path / "elsewhere" / "archive").exists()


def _brings_or_ends(here: Bucketed, before: int, process: subprocess.Popen[bytes]) -> bool:
    return len(here.there()) > before or process.poll() is not None


def test_kills_in_the_middle_of_uploads_lose_nothing(tmp_path: Path, slow_site: int, s3: S3Server) -> None:
    here, chance, hits = Bucketed(tmp_path, slow_site, s3), random.Random(3), 0
    for _ in range(2):
        before, process = len(here.there()), here.start("harvest")
        wait_until(partial(_brings_or_ends, here, before, process), what="it uploads a file")
        time.sleep(chance.uniform(0.0, 0.2))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            hits += 1
        process.communicate(timeout=PATIENCE)
    assert hits
    here.run("harvest")
    assert not set(here.local()) & set(here.there())
    assert len(here.local()) <= 1
    check_bodies(here.settings())
    here.seal_the_rest()
    check_bodies(here.elsewhere())


def test_a_harvest_goes_on_while_the_server_is_away(
    tmp_path: Path, slow_site: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with S3Server() as away:
        for name, value in away.environment.items():
            monkeypatch.setenv(name, value)
        here = Bucketed(tmp_path, slow_site, away)

        def cut_off() -> None:
            wait_until(lambda: set(here.there()) - set(here.local()), what="a file is in the bucket only")
            away.stop()

        cut = threading.Thread(target=cut_off)
        cut.start()
        here.run("harvest", status=(0, 1))  # 1 if something was still to be read from there
        cut.join()
        assert len(here.local()) >= 2
        with House(here.settings()) as house:
            problems, _ = house.catalogue.problems(stage=Stage.ARCHIVE, page=Page())
            assert {problem.code for problem in problems} == {"archive-away"}
        with pytest.raises(ArchiveAway, match="nobody answers"):
            check_bodies(here.settings())
        assert "nobody answers" in here.run("doctor", status=1)
        assert "nobody answers" in here.run("harvest", status=1)
        away.start()
        here.run("harvest")
        assert len(here.local()) <= 1
        with House(here.settings()) as house:
            assert house.catalogue.problems(stage=Stage.ARCHIVE, page=Page())[1] == []
        check_bodies(here.settings())
