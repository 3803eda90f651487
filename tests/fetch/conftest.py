"""A web server on loopback that says exactly the bytes it is told to, however wrong they are."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest

from rehi.fetch import Fetcher
from rehi.model.version import Digest
from rehi.model.visit import Answer, Visit
from rehi.settings import FetchSettings
from rehi.testing.waiting import PATIENCE

Reply = Callable[[socket.socket, bytes], bool | None]  # True keeps the connection open for the next request


def made_up(body: bytes, *, status: int = 200, media_type: str = "text/html; charset=utf-8") -> Answer:
    """An answer that no server has given."""
    return Answer(
        status=status,
        reason="",
        http_version="1.1",
        request_headers=(),
        headers=(("Content-Type", media_type),),
        address="",
        body=io.BytesIO(body),
        size=len(body),
        digest=Digest(""),
    )


class OnceServer:
    """Answers every connection once, as ``answer`` does it, until it is closed."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def answer(self, connection: socket.socket) -> None:
        """What is done with a connection."""
        raise NotImplementedError

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                connection.settimeout(PATIENCE)
                self.answer(connection)


class RawServer:
    """Answers each path with bytes, or by a function that does with the connection what it likes."""

    def __init__(self) -> None:
        self.replies: dict[str, bytes | Reply] = {}
        self.requests: list[bytes] = []
        self.connections = 0
        self.broken_off = threading.Event()  # set by replies that saw the visitor leave
        self._stopping = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def endless(self, head: bytes, block: bytes) -> Reply:
        """A reply that goes on until the visitor leaves."""

        def send(connection: socket.socket, _request: bytes) -> None:
            try:
                connection.sendall(head)
                while not self._stopping.is_set():
                    connection.sendall(block)
            except OSError:
                self.broken_off.set()

        return send

    def trickle(self, head: bytes, *, pause: float) -> Reply:
        """A reply that sends a byte now and then."""

        def send(connection: socket.socket, _request: bytes) -> None:
            with contextlib.suppress(OSError):
                connection.sendall(head)
                while not self._stopping.wait(pause):
                    connection.sendall(b"x")

        return send

    def close(self) -> None:
        self._stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(0.2)
            while not self._stopping.is_set():
                request = self._read(connection)
                if not request:
                    return
                self.requests.append(request)
                reply = self.replies.get(request.split(b" ", 2)[1].decode(), b"HTTP/1.1 404 Not Found\r\n\r\n")
                connection.settimeout(PATIENCE)
                if isinstance(reply, bytes):
                    with contextlib.suppress(OSError):
                        connection.sendall(reply)
                    if b"\r\nKeep: yes" not in reply:
                        return
                elif not reply(connection, request):
                    return
                connection.settimeout(0.2)

    def _read(self, connection: socket.socket) -> bytes:
        request = b""
        while b"\r\n\r\n" not in request and not self._stopping.is_set():
            try:
                piece = connection.recv(65_536)
            except TimeoutError:
                continue
            except OSError:
                return b""
            if not piece:
                return b""
            request += piece
        return request


class Visiting(Protocol):
    """Visits one URL and waits for what comes of it."""

    def __call__(
        self,
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        follow: bool = False,
        max_bytes: int | None = None,
        cut_at: int | None = None,
        **settings: Any,
    ) -> Visit: ...


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def server() -> Iterator[RawServer]:
    server = RawServer()
    yield server
    server.close()


@pytest.fixture
def settings(server: RawServer) -> FetchSettings:
    """Loopback and the server's port allowed, and patience for a busy machine; who tests it sets less."""
    return FetchSettings(
        allow_private=["127.0.0.0/8", "::1/128"],
        ports=[80, 443, server.port],
        resolve=[f"*.test=127.0.0.1:{server.port}"],
        timeout=PATIENCE / 2,
        connect_timeout=PATIENCE / 4,
        stall_timeout=PATIENCE / 4,
    )


@pytest.fixture
def fetcher(settings: FetchSettings) -> Iterator[Fetcher[str]]:
    with Fetcher[str](settings, clock=now) as fetcher:
        yield fetcher


@pytest.fixture
def visit(settings: FetchSettings) -> Iterator[Visiting]:
    """A visit by a fetcher of its own, with settings changed as told; bodies are closed at the end."""
    visits: list[Visit] = []

    def one(
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        follow: bool = False,
        max_bytes: int | None = None,
        cut_at: int | None = None,
        **changed: Any,
    ) -> Visit:
        with Fetcher[int](settings.model_copy(update=changed), clock=now) as fetcher:
            conditions = {"etag": etag, "last_modified": last_modified}
            fetcher.submit(7, url, follow=follow, max_bytes=max_bytes, cut_at=cut_at, **conditions)
            assert fetcher.in_flight == 1
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                for key, ended in fetcher.poll(0.1):
                    assert key == 7
                    assert fetcher.in_flight == 0
                    visits.append(ended)
                    return ended
        raise AssertionError("the visit did not end")

    yield one
    for ended in visits:
        if ended.answer is not None:
            ended.answer.body.close()
