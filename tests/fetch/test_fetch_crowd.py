"""Many hosts at once: none holds up another, and none takes memory or files that it doesn't give back."""

from __future__ import annotations

import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehi.errors import TimedOut
from rehi.fetch import Fetcher
from rehi.fetch.incoming import IN_MEMORY
from rehi.settings import FetchSettings
from rehi.testing.waiting import PATIENCE, wait_until
from tests.fetch.conftest import RawServer, Visiting, now

# A process of its own, so that it does not take the visitor's turn. Hosts of 127.1.0.0/16 take requests and say nothing.
_SERVER = """
import asyncio, sys

REPLY = b"HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\nContent-Length: 3000\\r\\n\\r\\n" + b"x" * 3000

class Page(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.hangs = transport.get_extra_info("sockname")[0].startswith("127.1.")

    def data_received(self, data):
        if not self.hangs:
            self.transport.write(REPLY * data.count(b"\\r\\n\\r\\n"))

class Gate(asyncio.Protocol):
    waiting = []

    def connection_made(self, transport):
        self.waiting.append(transport)

    def data_received(self, data):
        if len(self.waiting) == 1000:
            for transport in self.waiting:
                transport.write(REPLY)

async def main():
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(kind, "0.0.0.0", 0, backlog=2000) for kind in (Page, Gate)]
    print(*[server.sockets[0].getsockname()[1] for server in servers], flush=True)
    await asyncio.gather(*[server.serve_forever() for server in servers])

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def crowd() -> Iterator[tuple[int, int]]:
    """The ports of the pages, and of a gate that opens when a thousand stand before it."""
    with subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pages, gate = map(int, process.stdout.readline().split())
        yield pages, gate
        process.kill()


def _settings(*ports: int) -> FetchSettings:
    return FetchSettings(
        allow_private=["127.0.0.0/8"], ports=list(ports), connections=1000, timeout=PATIENCE, connect_timeout=PATIENCE
    )


def _visit_all(fetcher: Fetcher[str], port: int, hosts: list[str], pages: int) -> tuple[float, float]:
    """The seconds that went by and those of the processor, each host being asked for one page at a time."""
    left = dict.fromkeys(hosts, pages)
    done, began, spent = 0, time.monotonic(), time.process_time()
    for host in hosts:
        fetcher.submit(host, f"http://{host}:{port}/")
    while done < pages * len(hosts):
        assert time.monotonic() - began < PATIENCE
        for host, ended in fetcher.poll(1):
            assert ended.answer is not None, ended.error
            ended.answer.body.close()
            done += 1
            left[host] -= 1
            if left[host]:
                fetcher.submit(host, f"http://{host}:{port}/{left[host]}")
    return time.monotonic() - began, time.process_time() - spent


def test_hosts_that_hang_do_not_slow_the_others(crowd: tuple[int, int]) -> None:
    port, _ = crowd
    well = [f"127.0.1.{number}" for number in range(1, 191)]
    hanging = [f"127.1.0.{number}" for number in range(1, 11)]
    with Fetcher[str](_settings(port), clock=now) as alone, Fetcher[str](_settings(port), clock=now) as beside:
        for host in hanging:
            beside.submit(host, f"http://{host}:{port}/")
        # In turns and the best of each, for neighbours on the machine disturb both: a slow-down that is real stays. They
        # disturb the work of the processor less than the time that goes by, which only may not double.
        by_itself, by_others = [], []
        for _ in range(15):
            by_itself.append(_visit_all(alone, port, well, 4))
            by_others.append(_visit_all(beside, port, well, 4))
            (wall_alone, work_alone), (wall, work) = (
                map(min, zip(*times, strict=True)) for times in (by_itself, by_others)
            )
            if work < 1.1 * work_alone and wall < 2 * wall_alone:
                break
        assert beside.in_flight == len(hanging)
        assert work < 1.1 * work_alone
        assert wall < 2 * wall_alone


def test_a_thousand_hosts_are_visited_at_once(crowd: tuple[int, int]) -> None:
    _, gate = crowd
    with Fetcher[int](_settings(gate), clock=now) as fetcher:
        for number in range(1000):
            fetcher.submit(number, f"http://127.0.{number // 250}.{number % 250 + 1}:{gate}/")
        answered = 0
        while fetcher.in_flight:
            for _, ended in fetcher.poll(5):
                assert ended.answer is not None, ended.error
                ended.answer.body.close()
                answered += 1
        assert answered == 1000


def test_visits_that_are_broken_off_are_forgotten(server: RawServer, fetcher: Fetcher[str]) -> None:
    server.replies["/endless"] = server.endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536)
    server.replies["/slow"] = server.trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", pause=0.5)
    fetcher.submit("bad endless", server.url("/endless"))
    fetcher.submit("good", server.url("/slow"))
    while not any(b"/endless" in request for request in server.requests):
        assert fetcher.poll(0.02) == []
    fetcher.submit("bad refused", "http://10.0.0.1:22/")
    fetcher.submit("bad unknown", "http://there-is-no-such-host.invalid/")
    aborted = fetcher.abort(lambda key: key.startswith("bad"))
    assert sorted(aborted) == ["bad endless", "bad refused", "bad unknown"]
    assert server.broken_off.wait(PATIENCE)
    assert fetcher.abort(lambda key: key.startswith("bad")) == []
    ended = []
    while fetcher.in_flight:
        ended += fetcher.poll(5)
    assert [key for key, _ in ended] == ["good"]
    answer = ended[0][1].answer
    assert answer is not None
    answer.body.close()


def test_breaking_off_gives_everything_back(server: RawServer, fetcher: Fetcher[int]) -> None:
    server.replies["/"] = server.endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for round_ in range(3):
        for number in range(5):
            fetcher.submit(number, server.url("/"), max_bytes=10**12)
        while len(server.requests) < 5 * (round_ + 1):
            assert fetcher.poll(0.05) == []
        assert sorted(fetcher.abort(lambda _: True)) == [0, 1, 2, 3, 4]
        assert fetcher.in_flight == 0
    # The server's ends of the connections are in this process, too.
    wait_until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= before, what="all connections are closed")


def _memory() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@pytest.mark.parametrize("kind", ["identity", "gzip", "chunked"])
def test_eighty_megabytes_take_the_memory_of_one(server: RawServer, visit: Visiting, kind: str) -> None:
    block = bytes(range(256)) * 256
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    heads = {
        "identity": b"Content-Length: %d" % (len(block) * 1_280),
        "gzip": b"Content-Encoding: gzip",
        "chunked": b"Transfer-Encoding: chunked",
    }

    def large(connection: object, _request: bytes) -> None:
        send = connection.sendall  # type: ignore[attr-defined]
        send(b"HTTP/1.1 200 OK\r\n" + heads[kind] + b"\r\n\r\n")
        for _ in range(1_280):
            if kind == "gzip":
                send(packer.compress(block))
            else:
                send(b"10000\r\n" + block + b"\r\n" if kind == "chunked" else block)
        send({"identity": b"", "gzip": packer.flush(), "chunked": b"0\r\n\r\n"}[kind])

    server.replies["/"] = large
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pytest.skip("the peak of the memory can't be reset on this system")
    before = _memory()
    ended = visit(server.url("/"), timeout=PATIENCE)
    assert ended.answer is not None, ended.error
    assert ended.answer.size == len(block) * 1_280 > 80_000_000
    assert _memory() - before < IN_MEMORY + 10_000_000


def test_a_spooled_body_has_no_name_that_could_be_left_behind(
    server: RawServer, settings: FetchSettings, tmp_path: Path
) -> None:
    server.replies["/"] = server.endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536)
    with Fetcher[str](settings, clock=now, spool=tmp_path) as fetcher:
        fetcher.submit("endless", server.url("/"))

        def spooled_files() -> list[str]:
            fetcher.poll(0.02)
            links = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
            return [link for link in links if link.startswith(str(tmp_path))]

        spooled = wait_until(spooled_files, what="the body is in a file")
        assert spooled[0].endswith("(deleted)")
        assert list(tmp_path.iterdir()) == []


def test_a_visit_that_hangs_ends_when_its_time_is_over(crowd: tuple[int, int]) -> None:
    port, _ = crowd
    settings = _settings(port).model_copy(update={"timeout": 0.5})
    with Fetcher[int](settings, clock=now) as fetcher:
        for number in range(200):
            fetcher.submit(number, f"http://127.1.1.{number + 1}:{port}/")
        began, kinds = time.monotonic(), set()
        while fetcher.in_flight:
            kinds |= {type(ended.error) for _, ended in fetcher.poll(5)}
        assert kinds == {TimedOut}
        assert time.monotonic() - began < PATIENCE / 4
