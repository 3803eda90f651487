"""The server: ordinary requests, and each misbehaviour as a client meets it."""

from __future__ import annotations

import gzip
import http.client
import socket
import threading
import time
import urllib.robotparser
import zlib

import pytest

from rehi.errors import EngineError, RehiError
from rehi.testing.waiting import PATIENCE, wait_until
from rehi.testing.world import World, WorldServer, serve_forever
from rehi.testing.world.hosts import Access, host_of, path_of
from rehi.testing.world.misbehaviours import ALL, HUGE
from rehi.testing.world.traps import CLOSED


def get(server: WorldServer, url: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request("GET", path_of(url), headers={"Host": host_of(url), **named})
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def raw(server: WorldServer, url: str, *, seconds: float = PATIENCE, limit: int = 1_000_000) -> bytes:
    """All that comes over the socket until it ends, is reset, or falls silent for so long."""
    with socket.create_connection((server.host, server.port), timeout=seconds) as connection:
        connection.sendall(f"GET {path_of(url)} HTTP/1.1\r\nHost: {host_of(url)}\r\n\r\n".encode())
        received = b""
        while len(received) < limit:
            piece = connection.recv(65_536)
            if not piece:
                break
            received += piece
        return received


def trap(server: WorldServer, about: str) -> str:
    return next(each.url for each in server.world.traps if each.about == about)


def test_every_document_is_served_as_the_world_says(served: WorldServer) -> None:
    for document in served.world.documents:
        answer, body = get(served, document.url)
        assert answer.status == 200, document.url
        assert body == served.world.body(document.url)
        assert (answer.getheader("Content-Type") or "").startswith(document.media_type)


def test_some_sites_pack_and_all_know_head(served: WorldServer) -> None:
    host = next(host for host in World().hosts.values() if host.gzip)
    with WorldServer(World()) as whole:
        url = f"http://{host.name}/"
        answer, body = get(whole, url, Accept_Encoding="gzip")
        assert answer.getheader("Content-Encoding") == "gzip"
        assert gzip.decompress(body) == whole.world.body(url)
    connection = http.client.HTTPConnection(served.host, served.port, timeout=PATIENCE)
    connection.request("HEAD", "/", headers={"Host": "www.rehemaa.test"})
    answer = connection.getresponse()
    assert answer.read() == b""
    assert int(answer.getheader("Content-Length") or 0) > 1000
    connection.close()


def test_what_is_not_there_is_404(served: WorldServer) -> None:
    assert get(served, "http://www.rehemaa.test/ei-ole")[0].status == 404
    assert get(served, "http://tundmatu.test/")[0].status == 404


def test_each_lawful_redirect_ends_at_a_document(served: WorldServer) -> None:
    from urllib.parse import urldefrag, urljoin

    lawful = [redirect for redirect in served.world.redirects if not redirect.expect]
    assert {redirect.status for redirect in lawful} == {301, 302, 303, 307, 308}
    lengths = []
    for redirect in lawful:
        url, hops = redirect.url, 0
        while (answer := get(served, url)[0]).status != 200:
            url, hops = urldefrag(urljoin(url, answer.getheader("Location") or "")).url, hops + 1
            assert hops <= 3
        assert served.world.document(url)
        lengths.append(hops)
    assert max(lengths) == 3
    assert any(host_of(served.world.redirects[n].location) != "ring.rehemaa.test"
               for n, r in enumerate(served.world.redirects) if r.url.endswith("/mujale"))  # fmt: skip


def test_loops_go_round_and_the_endless_ring_goes_on(served: WorldServer) -> None:
    base = "http://ring.rehemaa.test"
    ways = {"/a": "/b", "/b": "/a", "/ise": "/ise", "/r/1": "/r/2", "/r/2": "/r/3", "/r/99999": "/r/100000"}
    for start, end in ways.items():
        answer, _ = get(served, base + start)
        assert answer.status in (301, 302)
        assert answer.getheader("Location") == end


def test_robots_txt_is_of_every_kind(served: WorldServer) -> None:
    answers = {name: get(served, f"http://{name}/robots.txt") for name in served.world.host_names}
    statuses = {name: answer.status for name, (answer, _) in answers.items()}
    assert statuses["haige.rehemaa.test"] == 500
    assert statuses["robotita.rehemaa.test"] == 404
    assert len(answers["paks.rehemaa.test"][1]) > 500 * 1024
    assert b"\x00" in answers["sodi.rehemaa.test"][1]
    delays = [host.robots for host in World().hosts.values() if b"Crawl-delay" in (host.robots or b"")]
    assert len(delays) == 2


def test_robots_txt_denies_what_the_world_says_it_denies(served: WorldServer) -> None:
    for name, host in served.world.hosts.items():
        rules = urllib.robotparser.RobotFileParser()
        if host.robots_status != 200 or name == "erand.rehemaa.test":  # wildcards are beyond the standard library
            continue
        rules.parse((host.robots or b"").decode("latin-1").splitlines())
        for document in host.documents:
            assert rules.can_fetch("rehi", document.url) == (document.access is Access.OPEN), document.url


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 500, 503])
def test_error_pages_have_their_status(served: WorldServer, status: int) -> None:
    assert get(served, trap(served, f"status-{status}"))[0].status == status


def test_a_page_that_is_gone_may_answer_200_and_one_may_be_empty(served: WorldServer) -> None:
    for url in (trap(served, "soft-404"), "http://vead.rehemaa.test/kadunud/muu"):
        answer, body = get(served, url)
        assert answer.status == 200
        assert "ei leitud" in body.decode()
    answer, body = get(served, trap(served, "empty-body"))
    assert (answer.status, body) == (200, b"")


def test_lies_are_told_about_types(served: WorldServer) -> None:
    base = "http://valetaja.rehemaa.test"
    declared_types = {
        "/leht.pdf": ("application/pdf", b"<!DOCTYPE html"), "/aruanne": ("text/plain", b"%PDF-"),
        "/andmed": ("text/html", b"{"), "/pilt": ("text/html", b"\x89PNG"), "/fail": ("text/plain", b"<?xml"),
    }  # fmt: skip
    for path, (declared, start) in declared_types.items():
        answer, body = get(served, base + path)
        assert (answer.getheader("Content-Type") or "").startswith(declared)
        assert body.startswith(start)


def test_slow_servers_are_slow(served: WorldServer) -> None:
    for about, ready in (("dribbled-body", "\r\n\r\nxx"), ("dribbled-head", "HT"), ("silence", "")):
        with socket.create_connection((served.host, served.port), timeout=PATIENCE) as connection:
            url, received, began = trap(served, about), b"", time.monotonic()
            connection.sendall(f"GET {path_of(url)} HTTP/1.1\r\nHost: {host_of(url)}\r\n\r\n".encode())
            while ready.encode() not in received:
                received += connection.recv(4096)
            bytes_of_it = len(received.rpartition(b"\r\n\r\n")[2])
            # One byte every half second, less what timers are early.
            assert bytes_of_it <= 1 + (time.monotonic() - began) / 0.45, about
            if not ready:
                connection.settimeout(0.7)
                with pytest.raises(TimeoutError):
                    connection.recv(4096)


def test_a_late_page_comes_after_all(served: WorldServer) -> None:
    began = time.monotonic()
    answer, body = get(served, "http://aeglane.rehemaa.test/tuleb.html")
    assert time.monotonic() - began > 0.4
    assert (answer.status, body) == (200, served.world.body("http://aeglane.rehemaa.test/tuleb.html"))


def test_broken_servers_break_off(served: WorldServer) -> None:
    with pytest.raises(ConnectionResetError):
        raw(served, trap(served, "reset"))
    assert raw(served, trap(served, "empty-reply")) == b""
    assert raw(served, trap(served, "not-http")).startswith(b"220 ")
    assert b"\r\n\r\n" not in raw(served, trap(served, "half-head"))


def test_lengths_are_wrong(served: WorldServer) -> None:
    for about, says_more in (("shorter-than-said", True), ("longer-than-said", False)):
        head, _, body = raw(served, trap(served, about)).partition(b"\r\n\r\n")
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        assert (length > len(body)) is says_more
        assert length != len(body)
    with pytest.raises(http.client.IncompleteRead):
        get(served, trap(served, "shorter-than-said"))


def test_packed_bodies_and_chunks_are_cut(served: WorldServer) -> None:
    for about in ("cut-gzip", "false-gzip"):
        answer, body = get(served, trap(served, about))
        assert answer.getheader("Content-Encoding") == "gzip"
        with pytest.raises((EOFError, OSError)):
            gzip.decompress(body)
    for about in ("cut-chunks", "false-chunks"):
        with pytest.raises(http.client.IncompleteRead):
            get(served, trap(served, about))


@pytest.mark.parametrize("about", ["huge-body", "huge-chunks"])
def test_huge_bodies_come_whole_in_constant_memory(served: WorldServer, about: str) -> None:
    connection = http.client.HTTPConnection(served.host, served.port, timeout=PATIENCE)
    url = trap(served, about)
    connection.request("GET", path_of(url), headers={"Host": host_of(url)})
    answer = connection.getresponse()
    total, buffer = 0, bytearray(1 << 18)
    while got := answer.readinto(buffer):
        total += got
    connection.close()
    assert total > 100_000_000
    assert total <= HUGE


def test_a_bomb_is_small_on_the_wire(served: WorldServer) -> None:
    _, body = get(served, trap(served, "gzip-bomb"))
    assert len(body) < 1_000_000
    unpacker = zlib.decompressobj(31)
    total = 0
    data = body
    while not unpacker.eof:
        total += len(unpacker.decompress(data, 1 << 20))
        data = unpacker.unconsumed_tail
    assert total == 300_000_000


def test_endless_streams_do_not_end(served: WorldServer) -> None:
    with socket.create_connection((served.host, served.port), timeout=PATIENCE) as connection:
        connection.sendall(b"GET /voog HTTP/1.1\r\nHost: lopmatu.rehemaa.test\r\n\r\n")
        for _ in range(12):  # ten times as often as a page has parts
            assert connection.recv(4096)
    assert b"\r\n\r\n" not in raw(served, trap(served, "endless-head"), limit=2_000_000)


def test_every_misbehaviour_is_somewhere_and_expected(served: WorldServer) -> None:
    assert set(ALL) <= {each.about for each in served.world.traps}
    codes = {"ok"} | {kind.code for kind in _all_errors(RehiError)}
    for url in served.world.urls():
        assert set(served.world.expect(url)) <= codes, url
    slow = [each for each in served.world.traps if "timed-out" in each.expect]
    assert len(slow) < 6


def _all_errors(kind: type[RehiError]) -> list[type[RehiError]]:
    return [kind, *(deeper for child in kind.__subclasses__() for deeper in _all_errors(child))]


def test_nobody_listens_at_the_closed_host(served: WorldServer) -> None:
    name, _, address = served.resolve_rules[0].partition("=")
    host, _, port = address.partition(":")
    assert name == CLOSED
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=PATIENCE)


def test_requests_are_counted_and_remembered() -> None:
    with WorldServer(World(small=True), remember=3) as server:
        for path in ("/", "/robots.txt", "/vana/1", "/ei"):
            get(server, f"http://www.rehemaa.test{path}")
        assert server.counts["www.rehemaa.test"] == 4
        assert [seen.path for seen in server.requests] == ["/robots.txt", "/vana/1", "/ei"]
        times = [seen.at for seen in server.requests]
        assert times == sorted(times)


@pytest.mark.parametrize(
    "request_bytes", [b"\r\n\r\n", b"GET /\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"]
)
def test_nonsense_gets_400_and_the_server_lives(served: WorldServer, request_bytes: bytes) -> None:
    with socket.create_connection((served.host, served.port), timeout=PATIENCE) as connection:
        connection.sendall(request_bytes)
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")
    assert get(served, "http://www.rehemaa.test/")[0].status == 200


def test_a_taken_port_is_said_in_one_sentence(served: WorldServer) -> None:
    with pytest.raises(EngineError, match="choose another port"), WorldServer(World(small=True), port=served.port):
        pass


def _listens(port: int) -> bool:
    with socket.socket() as visitor:
        return visitor.connect_ex(("127.0.0.1", port)) == 0


def test_it_can_be_served_until_told_to_stop() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stop = threading.Event()
    thread = threading.Thread(target=serve_forever, args=(port, 1, 60.0, stop), kwargs={"small": True})
    thread.start()
    try:
        wait_until(lambda: _listens(port), what="it listens")
    finally:
        stop.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def test_it_stops_at_once_while_clients_wait() -> None:
    server = WorldServer(World(small=True))
    server.start()
    waiting = socket.create_connection((server.host, server.port), timeout=PATIENCE)
    waiting.sendall(b"GET /vaikus HTTP/1.1\r\nHost: aeglane.rehemaa.test\r\n\r\n")
    wait_until(lambda: server.requests, what="the client waits")
    began = time.monotonic()
    server.close()
    assert time.monotonic() - began < PATIENCE / 4  # it would be silent for twice that
    waiting.close()


def test_two_thousand_pages_cost_less_than_a_second_of_cpu(served: WorldServer) -> None:
    asked = b"GET /uudised/1 HTTP/1.1\r\nHost: www.rehemaa.test\r\n\r\n" * 50
    with socket.create_connection((served.host, served.port), timeout=PATIENCE) as connection:
        connection.sendall(asked[: len(asked) // 50])
        size_of_one = len(connection.recv(1 << 20))
        began = time.process_time()
        for _ in range(40):
            connection.sendall(asked)
            left = 50 * size_of_one
            while left:
                left -= len(connection.recv(1 << 20))
        spent = time.process_time() - began
    assert spent < 1.0
