"""The clock: it stands still until told otherwise, runs at any speed, and is set by HTTP on a host of its own."""

from __future__ import annotations

import http.client
import json
from datetime import timedelta

import pytest

from rehi.testing.waiting import PATIENCE
from rehi.testing.world import START, World, WorldClock, WorldServer
from rehi.testing.world.hosts import Validators


def ask(server: WorldServer, host: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers={"Host": host, **named})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def tell(server: WorldServer, commands: object) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE)
    try:
        connection.request("POST", "/_clock", body=json.dumps(commands), headers={"Host": "clock.rehemaa.test"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_it_stands_still_runs_and_jumps() -> None:
    seconds = 0.0
    clock = WorldClock(ticks=lambda: seconds)
    seconds = 100.0
    assert clock.now() == START
    clock.run(60)
    seconds = 110.0
    assert clock.now() == START + timedelta(seconds=600)
    clock.stop()
    seconds = 500.0
    clock.advance(30)
    assert clock.now() == START + timedelta(seconds=630)
    assert clock.state().speed == 0


@pytest.mark.parametrize("speed", [-1.0, float("nan"), float("inf")])
def test_it_refuses_impossible_speeds(speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        WorldClock().run(speed)


def test_it_never_goes_back() -> None:
    with pytest.raises(ValueError, match="advanced"):
        WorldClock().advance(-1)


def test_it_is_read_and_set_by_http() -> None:
    with WorldServer(World(small=True)) as server:
        assert json.loads(ask(server, "clock.rehemaa.test", "/_clock")[2]) == {"now": START.isoformat(), "speed": 0.0}
        assert tell(server, {"advance": 3600})[1]["now"] == (START + timedelta(hours=1)).isoformat()
        assert tell(server, {"speed": 60})[1]["speed"] == 60
        assert tell(server, {"stop": True})[1]["speed"] == 0
        wrong: list[object] = [{"speed": "fast"}, {"speed": True}, {}, [], {"back": 1}, {"advance": -5}]
        for nonsense in wrong:
            assert tell(server, nonsense)[0] == 400
        assert ask(server, "clock.rehemaa.test", "/")[0] == 404
        assert not server.requests


def test_no_other_host_answers_for_the_clock(served: WorldServer) -> None:
    assert ask(served, "www.rehemaa.test", "/_clock")[0] == 404


def test_pages_change_as_it_runs_and_not_before() -> None:
    with WorldServer(World(small=True)) as server:
        host = "www.rehemaateataja.test"
        first = ask(server, host, "/")[2]
        assert ask(server, host, "/")[2] == first
        tell(server, {"advance": 3600})
        second = ask(server, host, "/")[2]
        assert second != first
        assert second == server.world.body(f"http://{host}/")


def test_an_unchanged_page_answers_304_and_a_changed_one_200() -> None:
    with WorldServer(World()) as server:
        asked = Validators.ETAG, Validators.BOTH
        papers = ("www.rehemaateataja.test", "uudised.rehemaa.test", "www.rannaelu.test", "news.rehemaa.test",
                  "www.rehemaatimes.test", "www.kaldaleht.test", "www.baltic-coast.test")  # fmt: skip
        paper = next(name for name in papers if server.world.hosts[name].validators in asked)
        _, headers, _ = ask(server, paper, "/")
        etag = headers["etag"]
        status, _, body = ask(server, paper, "/", If_None_Match=etag)
        assert (status, body) == (304, b"")
        server.world.clock.advance(7200)
        status, headers, _ = ask(server, paper, "/", If_None_Match=etag)
        assert status == 200
        assert headers["etag"] != etag


def test_a_date_is_as_good_as_a_tag(world: World) -> None:
    with WorldServer(world) as server:
        host = next(name for name, host in world.hosts.items() if host.validators is Validators.MODIFIED)
        path = "/"
        _, headers, _ = ask(server, host, path)
        assert "etag" not in headers
        assert ask(server, host, path, If_Modified_Since=headers["last-modified"])[0] == 304
        assert ask(server, host, path, If_Modified_Since="Thu, 01 Jan 1970 00:00:00 GMT")[0] == 200
        assert ask(server, host, path, If_Modified_Since="eile")[0] == 200
