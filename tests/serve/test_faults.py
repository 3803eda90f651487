"""A fault in serving never ends the harvest."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehi.app import House
from rehi.errors import NotFound
from rehi.operations.sources import enter
from rehi.serve import running, server
from rehi.service import Service
from rehi.testing.waiting import wait_until
from rehi.testing.world import WorldServer
from tests.conftest import settings_for
from tests.serve.conftest import ask_at


def _fail(*_: object) -> None:
    raise ZeroDivisionError("a fault of the tests")


async def _fail_soon(*_: object) -> None:
    raise ZeroDivisionError("a fault of the tests")


def _is_kept(house: House, url: str) -> bool:
    try:
        return bool(house.catalogue.versions(url))
    except NotFound:
        return False


def _harvests(house: House, service: Service, web: WorldServer, folder: Path) -> None:
    """See that a source which is added now is taken in, and what it names visited and kept."""
    url = next(one.url for one in web.world.documents if one.url.endswith(".html"))
    (folder / "list.txt").write_text(url, encoding="utf-8")
    service.start_source(enter(house, str(folder / "list.txt")).id)
    wait_until(lambda: _is_kept(house, url) or service.error, what="the page is kept")
    assert service.error is None
    assert service.status.running


def test_a_fault_in_an_answer_costs_that_answer(
    tmp_path: Path, practice_web: WorldServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rehi.operations.status.get_status", _fail)
    with House(settings_for(tmp_path, practice_web)) as house:
        service = Service(house)
        service.start()
        with running(house, service, port=0) as address:
            assert [ask_at(address)("/api/status").status for _ in range(3)] == [500] * 3
            assert ask_at(address)("/documents", accept="text/html").status == 200
            _harvests(house, service, practice_web, tmp_path)
        service.stop()


@pytest.mark.parametrize("part", ["on_tick", "startup"])
def test_a_fault_of_the_server_costs_the_pages(
    tmp_path: Path,
    practice_web: WorldServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    part: str,
) -> None:
    failing = type("FailingServer", (server._Server,), {part: _fail_soon})  # other servers of this process go on
    monkeypatch.setattr(server, "_Server", failing)
    with House(settings_for(tmp_path, practice_web)) as house:
        service = Service(house)
        service.start()
        with running(house, service, port=0):
            wait_until(lambda: "nothing is served any more" in caplog.text, what="the fault is told")
            _harvests(house, service, practice_web, tmp_path)
        service.stop()
