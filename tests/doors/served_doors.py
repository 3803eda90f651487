"""Served doors: what comes over a connection, from clients and from web servers."""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from rehi.app import House
from rehi.fetch import Fetcher, redirect_target, retry_after
from rehi.model.visit import Visit
from rehi.serve import running
from rehi.serve.examples import EXAMPLES
from rehi.service import Service
from rehi.settings import FetchSettings, load_settings
from rehi.testing.waiting import PATIENCE
from tests.doors.inward_doors import NOW, Door
from tests.doors.mutation import mutate
from tests.fetch.conftest import OnceServer, now
from tests.keeper import Keeper, at
from tests.serve.hostile_requests import HostileRequests, send, status_of

ALLOWED = frozenset({503, 507})
QUERIES = (
    *(text.encode() for _, text in EXAMPLES),
    b"ASK { ?s ?p ?o }", b"DESCRIBE <http://a.test/>", b"CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } } LIMIT 9",
    b"SELECT (SUM(?n)/0 AS ?x) { VALUES ?n { 1 2 'a' 1e999 } FILTER(REGEX(STR(?n), '(a+)+$')) }",
    b"SELECT * { ?a foaf:knows+/foaf:name*|^rdf:type ?b OPTIONAL { ?b ?c ?d MINUS { ?d ?e ?f } } } ORDER BY ?a OFFSET 9",
    b"SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }", b"INSERT DATA { <a:b> <a:c> 1 }", b"LOAD <file:///etc/passwd>",
)  # fmt: skip
ANSWERS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 7\r\nETag: \"a\"\r\nLast-Modified: Tue, 03 Mar 2026 08:00:00 GMT\r\n\r\n<p>Tere",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n5\r\n\x1f\x8b\x08\x00\x00\r\n0\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: http://b.test/\xc3\xb5?a=b#c\r\nSet-Cookie: a=b\r\n\r\n",
    b"HTTP/1.1 503 Wait\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 429 Wait\r\nRetry-After: Tue, 03 Mar 2026 08:00:00 GMT\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n", b"HTTP/1.0 200\r\n\r\nno head", b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx",
    b"HTTP/1.1 206 Part\r\nContent-Range: bytes 0-3/9\r\nContent-MD5: YQ==\r\nDigest: sha-256=YQ==\r\n\r\nTere",
)  # fmt: skip


class Faults(logging.Handler):
    """Collects what was logged with a traceback while something was served."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(("rehi.serve", "uvicorn", "asyncio")):
            return
        if record.exc_info or "Traceback" in record.getMessage():
            self.told.append(f"{record.getMessage()} {record.exc_info}")


class RequestDoor:
    """Requests with every part of them damaged."""

    name = "requests"

    def __init__(self, address: tuple[str, int], faults: Faults) -> None:
        self._address, self._faults = address, faults

    def draw(self, chance: Random) -> bytes:
        requests = HostileRequests(chance.randrange(2**40), f"127.0.0.1:{self._address[1]}")
        request, broken_off = requests.draw()
        return b"%d" % broken_off + request

    def send(self, raw: bytes) -> str:
        return self._judge(status_of(send(*self._address, raw[1:], broken_off=raw[:1] == b"1")))

    def _judge(self, status: int) -> str:
        assert status < 500 or status in ALLOWED, f"answered with {status}"
        assert not self._faults.told, self._faults.told
        return f"{status // 100}xx" if status else "hung up"


class QueryDoor(RequestDoor):
    """SPARQL texts."""

    name = "sparql"

    def draw(self, chance: Random) -> bytes:
        query = chance.choice(QUERIES)
        if chance.random() < 0.5:
            return mutate(query, chance, QUERIES)[:90_000]
        words = query.split(b" ")  # most of these can be parsed
        words[chance.randrange(len(words))] = chance.choice(chance.choice(QUERIES).split(b" "))
        return b" ".join(words)

    def send(self, raw: bytes) -> str:
        head = (
            f"POST /sparql HTTP/1.1\r\nHost: 127.0.0.1:{self._address[1]}\r\nContent-Type: application/sparql-query\r\n"
            f"Connection: close\r\nContent-Length: {len(raw)}\r\n\r\n"
        )
        status = status_of(send(*self._address, head.encode() + raw))
        assert status, "a query was not answered"
        return self._judge(status)


class UploadDoor(RequestDoor):
    """Uploads of files that are to be a source."""

    name = "uploads"

    def draw(self, chance: Random) -> bytes:
        body = (
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n'
            b'http://a.test/%d\r\n--x\r\nContent-Disposition: form-data; name="start"\r\n\r\n1\r\n--x--\r\n'
        ) % chance.randrange(9)
        return mutate(body, chance)[:300_000]

    def send(self, raw: bytes) -> str:
        head = (
            f"POST /api/sources HTTP/1.1\r\nHost: 127.0.0.1:{self._address[1]}\r\nConnection: close\r\n"
            f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {len(raw)}\r\n\r\n"
        )
        return self._judge(status_of(send(*self._address, head.encode() + raw)))


class _Told(OnceServer):
    """Answers with the bytes that it was told."""

    reply = b""

    def answer(self, connection: socket.socket) -> None:
        request = b""
        while b"\r\n\r\n" not in request and (piece := connection.recv(65_536)):
            request += piece
        connection.sendall(self.reply)


class AnswerDoor:
    """Answers of web servers, as the client gets them."""

    name = "answers"

    def __init__(self, server: _Told, fetcher: Fetcher[int]) -> None:
        self._server, self._fetcher = server, fetcher

    def draw(self, chance: Random) -> bytes:
        return mutate(chance.choice(ANSWERS), chance, ANSWERS)

    def send(self, raw: bytes) -> str:
        self._server.reply = raw
        url, end = f"http://127.0.0.1:{self._server.port}/", time.monotonic() + PATIENCE
        self._fetcher.submit(1, url, max_bytes=1_000_000)
        ended: list[tuple[int, Visit]] = []
        while not ended and time.monotonic() < end:
            ended = self._fetcher.poll(1.0)
        assert ended, "the visit has no end"
        visit = ended[0][1]
        if visit.error is not None:
            assert str(visit.error)
            return visit.error.code
        assert visit.answer is not None
        with visit.answer.body as body:
            body.read(65_536)
        redirect_target(url, visit.answer)
        retry_after(visit.answer, now=NOW)
        return f"{visit.answer.status // 100}xx"


@contextmanager
def served_doors(folder: Path) -> Iterator[list[Door]]:
    """Have a service and a web server to attack."""
    faults = Faults()
    logging.getLogger().addHandler(faults)
    settings = load_settings(data=folder / "data", query={"timeout": 5.0})
    try:
        with House(settings) as house, contextlib.closing(_Told()) as server:
            keeper = Keeper(house)
            keeper.new("http://a.test/", b"<p>Tere!</p>", at(0))
            keeper.close()
            with house.working() as harvest:
                harvest.catch_up()  # so that there is a graph to ask
            fetch = FetchSettings(
                allow_private=["127.0.0.0/8"], ports=[server.port], timeout=PATIENCE, stall_timeout=PATIENCE / 2
            )
            with running(house, Service(house), port=0) as url, Fetcher[int](fetch, clock=now) as fetcher:
                where = urlsplit(url)
                address = (str(where.hostname), int(where.port or 0))
                doors = [kind(address, faults) for kind in (RequestDoor, QueryDoor, UploadDoor)]
                yield [*doors, AnswerDoor(server, fetcher)]
    finally:
        logging.getLogger().removeHandler(faults)
