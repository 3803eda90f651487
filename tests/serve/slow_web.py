"""A practice web with a host of many slow pages, and a house that knows of them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rehi.app import House
from rehi.operations.sources import enter, read_in
from rehi.settings import Settings
from rehi.testing.waiting import wait_until
from rehi.testing.world import World, WorldServer
from rehi.testing.world.hosts import Host, Trap
from rehi.testing.world.replies import Misbehaviour, Step, Wait, head
from tests.conftest import settings_for

SLOW = "pikk.rehemaa.test"
ROBOTS = b"User-agent: *\nDisallow: /<script>alert(1)</script>\nDisallow: /\x1b[31mpunane\n"


@dataclass(slots=True)
class Pace:
    """How many seconds each page takes; a test may change it while the web is served."""

    seconds: float = 0.25


PACE = Pace()


@contextmanager
def at_pace(seconds: float) -> Iterator[None]:
    """Each page takes so many seconds, until this ends."""
    before, PACE.seconds = PACE.seconds, seconds
    try:
        yield
    finally:
        PACE.seconds = before


def _page(number: int) -> Misbehaviour:
    body = f"<!doctype html><html lang=et><title>Leht {number}</title><p>See on leht {number}.</p></html>".encode()

    def steps() -> Iterator[Step]:
        yield head(200, "text/html; charset=utf-8", ("Content-Length", str(len(body))))
        yield Wait(PACE.seconds)
        yield body

    return Misbehaviour(steps)


@contextmanager
def slow_web(*, pages: int) -> Iterator[WorldServer]:
    """The small practice web, and one host more."""
    world = World(seed=1, small=True)
    paths = [f"/leht/{number}" for number in range(pages)]
    world.hosts[SLOW] = Host(
        name=SLOW,
        owner="Rehemaa",
        robots=ROBOTS,
        resources={
            path: Trap(url=f"http://{SLOW}{path}", about="late", expect=("ok",), answer=_page(number))
            for number, path in enumerate(paths)
        },
    )
    with WorldServer(world) as server:
        yield server


def slow_urls(server: WorldServer) -> list[str]:
    return [found.url for found in server.world.hosts[SLOW].resources.values()]


def slow_settings(folder: Path, server: WorldServer, urls: list[str]) -> Settings:
    """Settings for a house that has taken these pages in, and has visited none of them."""
    source = folder / "lehed.txt"
    source.write_text("\n".join(urls) + "\n", encoding="utf-8")
    settings = settings_for(folder, server)
    with House(settings) as house:
        read_in(house, enter(house, str(source)).id)
    return settings


def write_config(folder: Path, settings: Settings) -> Path:
    """The same settings as a file, for another process."""
    changed = settings.fetch.model_dump(exclude_defaults=True)
    fetch = "".join(f"{name} = {json.dumps(value)}\n" for name, value in changed.items())
    config = folder / "rehi.toml"
    config.write_text(f'data = "{settings.data}"\n[fetch]\n{fetch}', encoding="utf-8")
    return config


def wait_for_peace(server: WorldServer, seconds: float) -> float:
    """Wait until the slow host was not asked for anything in so many seconds; return when it was asked last."""

    def last() -> float:
        return max(seen.at for seen in server.requests if seen.host == SLOW)

    wait_until(lambda: time.monotonic() - last() > seconds, what="the host is left in peace", pause=0.05)
    return last()
