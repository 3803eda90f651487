"""Engines that do not answer when rehi starts: what works waits for them, what only asks ends with a sentence."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from rehi.app import House, utc_now
from rehi.errors import CatalogueAway, EngineAway, EngineError
from rehi.serve import running
from rehi.service import Service
from rehi.testing.postgres import PostgresServer
from rehi.testing.waiting import PATIENCE, wait_until
from tests.changing_site import ChangingSite
from tests.serve.conftest import ask_at
from tests.test_outages import (
    PAGES,
    add,
    assert_all_once,
    locked,
    said,
    serving,
    settings_of,
    wait_for,
    wait_for_the_end,
)


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with ChangingSite(pages=PAGES) as site:
        yield site


def test_the_service_starts_without_its_database_and_begins_when_that_is_there(
    tmp_path: Path, site: ChangingSite, postgres: PostgresServer
) -> None:
    settings = settings_of(tmp_path, site, postgres.uri("later"))
    log = tmp_path / "pages.txt"
    log.write_text("".join(f"{url}\n" for url in site.urls))
    postgres.stop()
    with House(settings) as house:
        service = Service(house, [str(log)])
        service.start()
        try:
            with running(house, service, port=0) as address:
                ask = ask_at(address)
                wait_for(service, "catalogue-away")
                told = json.loads(ask("/api/status").body)
                assert (told["totals"], told["service"]["running"]) == (None, True)
                for path in ("/", "/documents", "/problems"):
                    away = ask(path, accept="text/html")
                    assert (path, away.status, away.headers.get("retry-after")) == (path, 503, "5")
                    assert b"does not answer now" in away.body
                postgres.start()
                wait_for_the_end(house, service)
                wait_until(lambda: "so it was for" in said(house).get("catalogue-away", ""), what="it is on the list")
                assert ask("/", accept="text/html").status == 200
        finally:
            service.stop()
        assert_all_once(house, site)


def test_a_server_that_is_starting_is_waited_for(tmp_path: Path, site: ChangingSite, postgres: PostgresServer) -> None:
    settings = settings_of(tmp_path, site, postgres.uri("starting"))
    with House(settings) as house:
        add(house, site)
    postgres.stop()
    postgres.start(open_to_all=False)

    def refuses() -> bool:
        with House(settings) as other, pytest.raises(CatalogueAway) as caught:
            assert other.catalogue
        return re.search("starting up|not accepting", str(caught.value)) is not None

    wait_until(refuses, what="the server answers that it is not ready")
    with House(settings) as house, serving(house) as service:
        wait_for(service, "catalogue-away")
        postgres.stop()
        postgres.start()
        wait_for_the_end(house, service)
        assert_all_once(house, site)


def test_a_server_without_a_free_connection_is_waited_for(tmp_path: Path, site: ChangingSite) -> None:
    options = ("max_connections=6", "superuser_reserved_connections=0", "max_wal_senders=0")
    with PostgresServer(options=options) as server:
        settings = settings_of(tmp_path, site, server.uri("full"))
        with House(settings) as house:
            add(house, site)
            with serving(house) as service:
                wait_until(lambda: site.requests, what="the first page was visited")
                hogs = [psycopg.connect(settings.catalogue_uri, autocommit=True)]

                def crowd_out() -> bool:
                    """End the harvest's own connections, as an administrator does, and take their places."""
                    hogs[0].execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '' "
                        "AND backend_type = 'client backend' AND NOT pid = ANY(%s)",
                        ([hog.info.backend_pid for hog in hogs],),
                    )
                    try:
                        while True:
                            hogs.append(psycopg.connect(settings.catalogue_uri, autocommit=True))
                    except psycopg.OperationalError:
                        return len(hogs) == 6 and bool(service.status.outages)

                wait_until(crowd_out, what="all connections are others'")
                with House(settings) as other, pytest.raises(CatalogueAway, match=r"too many clients|slots"):
                    assert other.catalogue
                wait_for(service, "catalogue-away")
                for hog in hogs:
                    hog.close()
                wait_for_the_end(house, service)
            assert service.error is None
            assert_all_once(house, site)


@pytest.mark.parametrize("wrong", ["password", "database", "name"])
def test_what_is_wrong_with_the_address_is_an_error_at_once(
    tmp_path: Path, site: ChangingSite, postgres: PostgresServer, wrong: str
) -> None:
    uri = postgres.uri("here")
    wrongs = {
        "password": (postgres.guarded_uri("here", "wrong"), "password authentication failed"),
        "database": (uri.replace("/here?", "/elsewhere?"), "does not exist"),
        "name": ("postgresql://rehi@nobody.invalid/here", "resolve host"),
    }
    address, message = wrongs[wrong]
    with House(settings_of(tmp_path, site, address)) as house, pytest.raises(EngineError, match=message) as caught:
        Service(house).start()
    assert not isinstance(caught.value, EngineAway)


def rehi(folder: Path, site: ChangingSite, *words: str) -> subprocess.Popen[str]:
    """Start a command on a database that may be locked."""
    config = folder / "rehi.toml"
    config.write_text(
        f'data = "{folder / "data"}"\ncatalogue = "sqlite:///{folder / "catalogue.db"}?timeout=0.05"\n[fetch]\n'
        f'allow_private = ["127.0.0.0/8"]\nports = [{site.port}]\ndelay = 0.05\n[work]\nworkers = 1\nenrich = false\n'
        f"patience = {1 if '--impatient' in words else 600}\n"
    )
    words = tuple(word for word in words if word != "--impatient")
    command = [sys.executable, "-m", "rehi", "--config", str(config), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("command", ["harvest", "update"])
def test_a_command_that_works_waits_and_says_so(tmp_path: Path, site: ChangingSite, command: str) -> None:
    path = tmp_path / "catalogue.db"
    with House(settings_of(tmp_path, site, f"sqlite:///{path}")) as house:
        add(house, site)
    with locked(path):
        working = rehi(tmp_path, site, command)
        assert working.stderr is not None
        assert "waiting, since the catalogue" in working.stderr.readline()
    told = working.communicate(timeout=PATIENCE)[1]
    assert (working.returncode, "it goes on after" in told) == (0, True)
    with House(settings_of(tmp_path, site, f"sqlite:///{path}")) as house:
        assert house.catalogue.totals(now=utc_now()).documents == PAGES


def test_a_command_waits_no_longer_than_it_may_and_ctrl_c_ends_it(tmp_path: Path, site: ChangingSite) -> None:
    path = tmp_path / "catalogue.db"
    with House(settings_of(tmp_path, site, f"sqlite:///{path}")) as house:
        add(house, site)
    with locked(path):
        impatient = rehi(tmp_path, site, "harvest", "--impatient")
        told = impatient.communicate(timeout=PATIENCE)[1]
        assert (impatient.returncode, "has been locked by another process" in told) == (1, True)
        stopped = rehi(tmp_path, site, "harvest")
        assert stopped.stderr is not None
        assert stopped.stderr.readline().startswith("waiting, since")
        stopped.send_signal(signal.SIGINT)
        stopped.communicate(timeout=PATIENCE)
        assert stopped.returncode == 130


def test_a_command_that_only_asks_ends_at_once(tmp_path: Path, site: ChangingSite, postgres: PostgresServer) -> None:
    uri = postgres.uri("asked")
    postgres.stop()
    try:
        config = tmp_path / "rehi.toml"
        config.write_text(f'data = "{tmp_path / "data"}"\ncatalogue = "{uri}"\n')
        for words in (["find", "Katrin"], ["stats"]):
            done = subprocess.run(
                [sys.executable, "-m", "rehi", "--config", str(config), *words],
                capture_output=True, text=True, check=False, timeout=PATIENCE,
            )  # fmt: skip
            assert (words, done.returncode) == (words, 1)
            assert done.stderr.startswith("rehi: the catalogue postgresql://")
    finally:
        postgres.start()
