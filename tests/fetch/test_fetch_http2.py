"""HTTP/2: for hosts that are asked several things at once."""

from __future__ import annotations

import asyncio
import io
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme

from rehi.errors import FetchError
from rehi.fetch import Fetcher
from rehi.fetch.handle import certificates
from rehi.model.visit import Visit
from rehi.settings import FetchSettings, HostSettings
from rehi.testing.waiting import PATIENCE, wait_until

BODY = b"Tere, maailm! " * 5_000


class Http2Server:
    """A real one (hypercorn), in a thread of its own."""

    def __init__(self, certificate: Path) -> None:
        from hypercorn.config import Config

        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.port: int = taken.getsockname()[1]
        self.versions: list[str] = []
        self.clients: set[Any] = set()
        self._config = Config()
        self._config.bind = [f"127.0.0.1:{self.port}"]
        self._config.certfile = self._config.keyfile = str(certificate)
        self._config.alpn_protocols = ["h2", "http/1.1"]
        self._config.loglevel = "CRITICAL"
        self._config.graceful_timeout = 0.2
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._wait_until_it_listens()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    def _wait_until_it_listens(self) -> None:
        wait_until(self._listens, what="the server listens")

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE).close()
        except OSError:
            return False
        return True

    def _run(self) -> None:
        from hypercorn.asyncio import serve

        asyncio.set_event_loop(self._loop)
        app: Any = self._answer
        self._loop.run_until_complete(serve(app, self._config, shutdown_trigger=self._stop.wait))
        self._loop.close()

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self.versions.append(scope["http_version"])
        self.clients.add(scope["client"])
        headers = [(b"content-type", b"text/plain"), (b"x-host", dict(scope["headers"]).get(b"host", b""))]
        if scope["path"] == "/short":  # promises more than it has
            headers.append((b"content-length", b"999999"))
        if scope["path"] == "/together":
            await asyncio.sleep(0.2)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": BODY})


@pytest.fixture(scope="module")
def http2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Http2Server]:
    folder = tmp_path_factory.mktemp("http2")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    authority.issue_cert("www.rehemaa.test").private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
        certificates.cache_clear()
        server = Http2Server(folder / "server.pem")
        yield server
        server.close()
    certificates.cache_clear()


def _visit(server: Http2Server, paths: list[str], *, connections: int, **submitted: Any) -> list[Visit]:
    settings = FetchSettings(
        allow_private=["127.0.0.0/8"],
        resolve=[f"*.test=127.0.0.1:{server.port}"],
        timeout=PATIENCE,
        connect_timeout=PATIENCE,
        hosts=[HostSettings(match="www.rehemaa.test", connections=connections)],
    )
    server.versions.clear()
    server.clients.clear()
    ended: list[Visit] = []
    with Fetcher[int](settings, clock=lambda: datetime.now(UTC)) as fetcher:
        for number, path in enumerate(paths):
            fetcher.submit(number, f"https://www.rehemaa.test{path}", **submitted)
        while fetcher.in_flight:
            ended += [visit for _, visit in fetcher.poll(5)]
    return ended


def _bodies(ended: list[Visit]) -> list[bytes]:
    bodies = []
    for visit in ended:
        assert visit.answer is not None, visit.error
        with visit.answer.body as body:
            bodies.append(body.read())
    return bodies


def test_one_thing_at_a_time_is_asked_for_in_http_1(http2: Http2Server) -> None:
    (ended,) = _visit(http2, ["/"], connections=1)
    assert _bodies([ended]) == [BODY]
    assert http2.versions == ["1.1"]
    assert ended.answer is not None
    assert ended.answer.http_version == "1.1"


def test_several_things_share_one_connection(http2: Http2Server) -> None:
    ended = _visit(http2, ["/together"] * 6, connections=6)
    assert _bodies(ended) == [BODY] * 6
    assert http2.versions == ["2"] * 6
    assert len(http2.clients) == 1


def test_an_answer_of_http_2_is_an_answer_like_others(http2: Http2Server) -> None:
    (ended,) = _visit(http2, ["/a?b"], connections=2)
    answer = ended.answer
    assert answer is not None, ended.error
    assert (answer.status, answer.reason, answer.http_version) == (200, "", "2")
    assert answer.header("Content-Type") == "text/plain"
    assert answer.header("X-Host") == "www.rehemaa.test"
    assert not any(name.startswith(":") for name, _ in answer.headers)
    assert dict(answer.request_headers)["Host"] == "www.rehemaa.test"
    assert answer.address == "127.0.0.1"
    assert _bodies([ended]) == [BODY]


def test_the_archive_keeps_an_answer_of_http_2_as_other_archives_do(http2: Http2Server) -> None:
    from warcio.archiveiterator import ArchiveIterator

    from rehi.archive.exchange import Exchange

    (ended,) = _visit(http2, ["/a?b"], connections=2)
    exchange = Exchange(ended, worker="w", answered_by="response")
    raw = b"".join(exchange.response()) + exchange.request()
    assert ended.answer is not None
    ended.answer.body.close()
    kept = {record.rec_type: (record, record.content_stream().read()) for record in ArchiveIterator(io.BytesIO(raw))}
    response, body = kept["response"]
    assert body == BODY
    assert response.rec_headers.get_header("WARC-Protocol") == "h2"
    assert response.http_headers.get_statuscode() == "200"
    assert response.http_headers.protocol == "HTTP/1.1"
    assert kept["request"][0].http_headers.protocol == "GET"


def test_caps_and_cuts_hold_in_http_2(http2: Http2Server) -> None:
    (ended,) = _visit(http2, ["/"], connections=2, cut_at=1_000)
    assert _bodies([ended]) == [BODY[:1_000]]
    (ended,) = _visit(http2, ["/"], connections=2, max_bytes=1_000)
    assert ended.error is not None
    assert ended.error.code == "too-large"


def test_a_body_of_http_2_that_is_shorter_than_promised_is_no_answer(http2: Http2Server) -> None:
    (ended,) = _visit(http2, ["/short"], connections=2)
    assert ended.answer is None
    assert isinstance(ended.error, FetchError)
