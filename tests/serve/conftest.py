"""The service over a harvested house, on a free port."""

from __future__ import annotations

import json
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from rehi.app import House
from rehi.serve import running
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE
from tests.conftest import Harvested
from tests.serve.kept_web import KeptWeb, kept_web


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whatever the status."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

Ask = Callable[..., Reply]


def ask_at(address: str) -> Ask:
    """A plain HTTP client for one address that follows no redirects."""

    class _Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    opener = urllib.request.build_opener(_Stay)

    def ask(path: str, *, body: bytes | None = None, method: str | None = None, **headers: str) -> Reply:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(address.rstrip("/") + path, data=body, headers=names, method=method)
        try:
            with opener.open(request, timeout=PATIENCE) as answer:
                return Reply(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, {k.lower(): v for k, v in error.headers.items()}, error.read())

    return ask


@pytest.fixture(scope="session")
def address(harvested: Harvested) -> Iterator[str]:
    with House(harvested.settings) as house:
        service = Service(house)
        service.start()
        with running(house, service, port=0) as at:
            yield at
        service.stop()


@pytest.fixture(scope="session")
def ask(address: str) -> Ask:
    return ask_at(address)


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptWeb]:
    """A service over a history that was made by hand."""
    with kept_web(tmp_path_factory.mktemp("kept") / "data") as web:
        yield web


@pytest.fixture(scope="session")
def ask_kept(kept: KeptWeb) -> Ask:
    return ask_at(kept.address)


@pytest.fixture
def guarded(tmp_path: Any) -> Iterator[Ask]:
    """A service that behaves as on a public address: a token for everything that changes something."""
    settings = load_settings(data=tmp_path / "data", serve={"host": "0.0.0.0", "token": "sesam"})
    with House(settings) as house:
        service = Service(house)
        service.start()
        with running(house, service, port=0) as at:
            yield ask_at(at.replace("0.0.0.0", "127.0.0.1"))
        service.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        absent = pytest.fail if os.environ.get("CI") else pytest.skip
        absent("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE * 1_000)
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(base_url=address, viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    yield opened
    context.close()
    assert [fault for fault in faults if "status of 4" not in fault] == []
