"""The server of the practice web: HTTP/1.1 on raw sockets of the loopback, as misbehaviour needs them."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from rehi.errors import EngineError
from rehi.testing.world.control import CLOCK_HOST, control
from rehi.testing.world.replies import Answer, Misbehaviour, Reply, Reset, Step, Wait
from rehi.testing.world.traps import CLOSED
from rehi.testing.world.wire import LARGEST_HEAD, WorldRequest, parse_head, render_reply
from rehi.testing.world.world import World

_LARGEST_BODY = 65_536


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request that was received."""

    host: str
    path: str  # and query
    at: float  # by time.monotonic()


class WorldServer:
    """Serves a practice web from a thread of its own while the ``with`` block lasts."""

    def __init__(
        self,
        world: World,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        remember: int = 100_000,
        latency: float = 0.0,
    ) -> None:
        self.world = world
        self.host = host
        self.port = port
        self.latency = latency  # seconds that every answer takes
        self.counts: Counter[str] = Counter()  # requests by host
        self.at_once: Counter[str] = Counter()  # the most requests at the same time, by host
        self._under_way: Counter[str] = Counter()
        self._seen: deque[SeenRequest] = deque(maxlen=remember)
        self._connections: set[_Connection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    @property
    def requests(self) -> tuple[SeenRequest, ...]:
        """The last requests that were received, the oldest first."""
        return tuple(self._seen)

    @property
    def resolve_rules(self) -> list[str]:
        """The rules for ``fetch.resolve`` that lead to the practice web."""
        return [f"{CLOSED}={self.host}:1", f"*.test={self.host}:{self.port}"]

    @property
    def base(self) -> str:
        """The URL of the server itself, without a host of the practice web."""
        return f"http://{self.host}:{self.port}"

    def __enter__(self) -> WorldServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start to listen; EngineError if the port can't be used."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.host, self.port))
            listener.listen(1024)
        except OSError as error:
            listener.close()
            message = (
                f"the practice web can't listen on {self.host}:{self.port} ({error.strerror}); choose another port"
            )
            raise EngineError(message) from error
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(listener, ready)), name="practice-web", daemon=True
        )
        self._thread.start()
        ready.wait()

    def close(self) -> None:
        """Close all connections and stop."""
        if self._thread is None or self._loop is None or self._stop is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._thread = self._loop = self._stop = None

    def note(self, request: WorldRequest) -> None:
        """Note a request that was received."""
        self.counts[request.host] += 1
        self._seen.append(SeenRequest(request.host, request.target, time.monotonic()))
        self._under_way[request.host] += 1
        self.at_once[request.host] = max(self.at_once[request.host], self._under_way[request.host])

    def answered(self, request: WorldRequest) -> None:
        """Note that a request was answered."""
        self._under_way[request.host] -= 1

    def joined(self, connection: _Connection) -> None:
        """Note a new connection."""
        self._connections.add(connection)

    def left(self, connection: _Connection) -> None:
        """Note that a connection has ended."""
        self._connections.discard(connection)

    async def _serve(self, listener: socket.socket, ready: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        self._loop, self._stop = loop, asyncio.Event()
        listening = await loop.create_server(lambda: _Connection(self, loop), sock=listener)
        ready.set()
        await self._stop.wait()
        loop.remove_reader(
            listener
        )  # closing it now would leak the sockets of connections that are just being accepted
        await self._hang_up()
        listening.close()

    async def _hang_up(self) -> None:
        while True:
            for connection in list(self._connections):
                connection.abort()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            if not tasks and not self._connections:
                return
            await asyncio.sleep(0)


class _Connection(asyncio.Protocol):
    """The connection of one client, with one request after another."""

    def __init__(self, server: WorldServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.joined(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.left(self)
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while self._task is None and self._transport is not None and not self._transport.is_closing():
            end = self._received.find(b"\r\n\r\n")
            if end < 0:
                if len(self._received) > LARGEST_HEAD:
                    self._transport.close()
                return
            request = parse_head(bytes(self._received[:end]))
            length = request.content_length
            if not request.method or length > _LARGEST_BODY:
                self._send(Reply(status=400), request, keep=False)
                return
            if len(self._received) < end + 4 + length:
                return
            body = bytes(self._received[end + 4 : end + 4 + length])
            del self._received[: end + 4 + length]
            self._answer(request, body)

    def _answer(self, request: WorldRequest, body: bytes) -> None:
        server = self._server
        if request.host == CLOCK_HOST:
            self._send(control(server.world.clock, request, body), request)
            return
        server.note(request)
        if request.method not in ("GET", "HEAD"):
            self._send(Reply(status=405, headers=(("Allow", "GET, HEAD"),)), request)
            server.answered(request)
            return
        answer: Answer | None = server.world.answer(request.host, request.target, server.world.clock.now())
        if isinstance(answer, Misbehaviour):
            self._task = self._loop.create_task(self._misbehave(answer, request))
            return
        reply = answer or Reply(status=404, body=b"Sellist masinat siin ei ole.\n")
        if server.latency:
            self._task = self._loop.create_task(self._send_late(reply, request))
        else:
            self._send(reply, request)
            server.answered(request)

    def _send(self, reply: Reply, request: WorldRequest, *, keep: bool = True) -> None:
        assert self._transport is not None
        keep = keep and request.keep_alive
        self._transport.write(render_reply(reply, request, self._server.world.clock.now(), keep=keep))
        if not keep:
            self._transport.close()

    async def _send_late(self, reply: Reply, request: WorldRequest) -> None:
        try:
            await asyncio.sleep(self._server.latency)
            if self._transport is not None and not self._transport.is_closing():
                self._send(reply, request)
        finally:
            self._server.answered(request)
        self._task = None
        self.data_received(b"")

    async def _misbehave(self, misbehaviour: Misbehaviour, request: WorldRequest) -> None:
        assert self._transport is not None
        try:
            for step in misbehaviour.steps():
                if self._transport.is_closing():
                    return
                await self._do(step, self._transport)
        finally:
            self._server.answered(request)
        self._transport.close()

    async def _do(self, step: Step, transport: asyncio.Transport) -> None:
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Reset):
            no_linger = (1).to_bytes(4, "little") + bytes(4)
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
            transport.abort()
        else:
            transport.write(step)
            await self._may_write.wait()


def serve_forever(
    port: int,
    seed: int = 1,
    speed: float = 0.0,
    stop: threading.Event | None = None,
    *,
    host: str = "127.0.0.1",
    small: bool = False,
) -> Mapping[str, int]:
    """Serve until ``stop`` is set; return the number of requests by host. EngineError if the port can't be used."""
    world = World(seed, small=small)
    world.clock.run(speed)
    with WorldServer(world, host, port) as server:
        (stop or threading.Event()).wait()
    return dict(server.counts)
