"""Secrets and paths leave the house nowhere: planted ones are looked for in all that can be had over HTTP, and beyond."""

from __future__ import annotations

import gzip
import logging
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from rehi.app import House
from rehi.operations.sources import enter, read_in
from rehi.operations.table import OPERATIONS
from rehi.serve import running
from rehi.serve.page_table import PAGES
from rehi.service import Service
from rehi.settings import Settings, load_settings
from rehi.testing.waiting import PATIENCE, wait_until
from tests.cli.command_line import rehi
from tests.serve.conftest import Ask, ask_at
from tests.test_visits import HTML, Site

TOKEN, HEADER, PROXY, KEY, DATABASE = (f"salasona-{number}" for number in "12345")
SECRETS = (TOKEN, HEADER, PROXY, KEY, DATABASE)
FOLDER, ELSEWHERE = "salajane-kaust", "teine-kaust"  # paths: shown to the one at the machine, and to nobody else
PARAMETERS = {
    "source_id": "1", "document_id": "1", "host_id": "1", "kind": "person", "slug": "keegi", "name": "a.test",
    "url": "http://a.test/", "digits": "2026", "type": "html",
}  # fmt: skip
QUERIES = {
    "/sparql": "?query=SELECT*{?s ?p ?o}".replace(" ", "%20"),
    "/api/versions": "?url=http://a.test/", "/versions": "?url=http://a.test/", "/api/text": "?url=http://a.test/",
    "/text": "?url=http://a.test/", "/api/diff": "?url=http://a.test/", "/diff": "?url=http://a.test/",
    "/cdx": "?url=a.test/*", "/download.zip": "?url=http://a.test/",
}  # fmt: skip
CHANGES = {
    "/api/sources/1/policy": {"priority": "low"}, "/api/sources/1/keep": {"keep": "last 5"},
    "/api/sources/1/follow": {"follow": "same host"}, "/api/sources/1/start": {}, "/api/sources/2/start": {},
    "/api/hosts/1/orders": {"delay": 1}, "/api/updates": {"source": 1}, "/api/sources": {"source": "http://a.test/x"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Planted:
    """A service over a house full of secrets."""

    ask: Ask
    house: House
    settings: Settings


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    folder = tmp_path_factory.mktemp(FOLDER)
    site = Site(lambda path: (200, HTML, b"<title>Leht</title><p>Tere, Tallinn!</p>"))
    hosts = [
        {"match": "*.test", "headers": {"Authorization": f"Bearer {HEADER}"}},
        {"match": "far.example", "proxy": f"http://rehi:{PROXY}@proxy.example:3128"},
    ]
    settings = load_settings(
        data=folder / "data",
        serve={"token": TOKEN},
        fetch={
            "resolve": [f"*.test=127.0.0.1:{site.port}"],
            "allow_private": ["127.0.0.0/8"],
            "delay": 0.0,
            "hosts": hosts,
        },
        work={"workers": 1, "enrich": False},
    )
    lists = tmp_path_factory.mktemp(ELSEWHERE)
    (lists / "list.txt").write_text("http://a.test/\n")
    (lists / "gone.txt").write_text("http://b.test/\n")
    with pytest.MonkeyPatch.context() as patch, House(settings) as house:
        patch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
        try:
            read_in(house, enter(house, str(lists / "list.txt")).id)
            gone = enter(house, str(lists / "gone.txt"))
            (lists / "gone.txt").unlink()
            house.catalogue.start_source(gone.id, now=house.catalogue.clock())
            deadline = time.monotonic() + PATIENCE
            with house.working() as wheel:
                wheel.run(until_idle=True, stopped=lambda: time.monotonic() > deadline)
            with running(house, Service(house), port=0) as address:
                yield Planted(ask_at(address), house, settings)
        finally:
            site.close()


def addresses() -> list[str]:
    """Every address that can be asked for, with parameters filled in."""
    rows = [address.split() for address in (*(row.address for row in OPERATIONS), *(row.address for row in PAGES))]
    paths = [re.sub(r"{(\w+)(?::path)?}", lambda name: PARAMETERS[name[1]], path) for how, path in rows if how == "GET"]
    return sorted({path + QUERIES.get(path, "") for path in paths})


def leaks(text: str, words: tuple[str, ...] = (*SECRETS, FOLDER, ELSEWHERE)) -> list[str]:
    return [word for word in words if word in text]


@pytest.mark.parametrize("path", addresses())
def test_no_page_and_no_answer_tells(planted: Planted, path: str) -> None:
    for accept in ("*/*", "text/html"):
        answer = planted.ask(path, Accept=accept)
        assert answer.status < 500, answer.body
        assert leaks(answer.body.decode("latin-1") + str(answer.headers)) == []


@pytest.mark.parametrize("path", CHANGES)
def test_no_answer_to_a_change_tells(planted: Planted, path: str) -> None:
    body = orjson.dumps(CHANGES[path])
    answer = planted.ask(path, body=body, Content_Type="application/json", Authorization=f"Bearer {TOKEN}")
    assert answer.status < 300, answer.body
    assert leaks(answer.text) == []


def test_the_planted_are_there_to_be_found(planted: Planted) -> None:
    """So that the tests above are known to be able to fail."""
    sources = planted.house.catalogue.sources()
    assert all(ELSEWHERE in source.location for source in sources if source.is_local)
    assert leaks(" ".join(planted.settings.secrets()), SECRETS[:4]) == list(SECRETS[:4])
    (problem,) = (one for one in planted.ask("/api/problems").json["problems"] if one["stage"] == "sources")
    assert problem["message"] == "there is no file gone.txt"


def test_an_upload_that_is_refused_tells_no_path(planted: Planted, caplog: pytest.LogCaptureFixture) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.log"\r\n\r\n\x7fELF\0\0\r\n--x--\r\n'
    with caplog.at_level(logging.DEBUG):
        answer = planted.ask(
            "/api/sources", body=body, Content_Type="multipart/form-data; boundary=x", Authorization=f"Bearer {TOKEN}"
        )
    assert (answer.status, answer.json["detail"]) == (422, "a.log is a binary file, not a crawl log or a list of URLs")
    assert leaks(caplog.text, SECRETS) == []


def test_no_record_of_the_archive_holds_a_secret(planted: Planted) -> None:
    records = b"".join(gzip.decompress(path.read_bytes()) for path in planted.settings.data.rglob("*.warc.gz"))
    assert b"WARC-Type: request" in records
    assert leaks(records.decode("latin-1")) == []


def test_no_process_shows_a_secret_in_its_title(planted: Planted) -> None:
    planted.ask("/sparql?query=ASK{}")  # starts the processes that answer
    titles = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _is_ours(path.parent)]
    assert len(titles) > 1
    assert leaks(b" ".join(titles).decode(errors="replace"), SECRETS) == []


def _is_ours(process: Path) -> bool:
    """Whether a process descends from this one."""
    while process.name not in ("0", "1"):
        if process.name == str(os.getpid()):
            return True
        try:
            status = (process / "status").read_text()
        except OSError:  # it has ended
            return False
        process = process.with_name(re.findall(r"PPid:\s+(\d+)", status)[0])
    return False


@pytest.mark.parametrize("words", [("settings", "--json"), ("doctor", "--json"), ("source", "--json"), ("workers",)])
def test_no_command_prints_a_secret(planted: Planted, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "rehi.toml").write_text(
        f'[serve]\ntoken = "{TOKEN}"\n[[fetch.hosts]]\nmatch = "a.test"\nheaders = {{ Authorization = "Bearer {HEADER}" }}\n'
        f'proxy = "http://rehi:{PROXY}@proxy.example:3128"\n'
    )
    shown = rehi(*words, data=planted.settings.data, REHI_CONFIG=str(tmp_path / "rehi.toml"))
    assert leaks(shown.stdout + shown.stderr, SECRETS) == []


AWAY = "postgresql:///rehi?host=127.0.0.1&port=1"
# Each with a word of its password that no other spelling of it holds.
ADDRESSES = {
    "before the host": f"postgresql://rehi:{DATABASE}@127.0.0.1:1/rehi",
    "with slashes": f"postgresql://rehi:a/{DATABASE}/b@127.0.0.1:1/rehi",
    "password": f"{AWAY}&password={DATABASE}",
    "sslpassword": f"{AWAY}&sslpassword={DATABASE}&sslmode=prefer",
    "passfile": f"{AWAY}&passfile=/{DATABASE}",
    "options": f"{AWAY}&options=-c%20app.key%3D{DATABASE}",
    "in capitals": f"{AWAY}&PASSWORD={DATABASE}",
    "percent-encoded": f"{AWAY}&pass%77ord=%73{DATABASE[1:]}",
    "twice": f"{AWAY}&password=x&password={DATABASE}",
    "of an engine that is not known": f"mystery://127.0.0.1/rehi?auth={DATABASE}",
    "no address": f"host=127.0.0.1 password={DATABASE}",
}


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES.keys())
def test_a_database_that_is_away_is_named_without_what_is_secret_in_its_address(tmp_path: Path, address: str) -> None:
    for words in (("source",), ("doctor", "--json"), ("settings", "--json")):
        shown = rehi(*words, data=tmp_path / "data", REHI_CATALOGUE=address)
        assert (shown.returncode == 0) == (words[0] == "settings"), words
        assert "127.0.0.1" in shown.stdout + shown.stderr or not address.startswith("postgresql"), words
        assert leaks(shown.stdout + shown.stderr, SECRETS) == [], words


def test_a_harvest_that_waits_for_its_database_tells_the_log_nothing_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = load_settings(data=tmp_path / "data", catalogue=ADDRESSES["password"], serve={"token": TOKEN})
    with House(settings) as house:
        service = Service(house)
        service.start()
        try:
            wait_until(lambda: service.status.outages, what="it is said that the database is away")
            with running(house, service, port=0) as address:
                for path in ("/", "/api/status", "/api/sources"):
                    assert (
                        leaks(ask_at(address)(path, Authorization=f"Bearer {TOKEN}").text, (*SECRETS, "port=1")) == []
                    )
        finally:
            service.stop()
        assert "127.0.0.1" in caplog.text
        assert leaks(caplog.text + str(service.status), SECRETS) == []


def test_a_catalogue_that_breaks_is_explained_to_the_log_and_not_to_the_network(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    settings = load_settings(data=tmp_path_factory.mktemp(FOLDER) / "data")
    with House(settings) as house, running(house, Service(house), port=0) as address:
        ask = ask_at(address)
        assert ask("/api/sources").status == 200
        with closing(sqlite3.connect(settings.data / "catalogue.db", isolation_level=None)) as database:
            database.execute("ALTER TABLE source RENAME TO lost")
        answer = ask("/api/sources")
        assert (answer.status, answer.json["code"], answer.json["detail"]) == (
            503, "engine-error", "An engine can't be reached or opened",
        )  # fmt: skip
        assert leaks(answer.text) == []
        assert FOLDER in caplog.text
