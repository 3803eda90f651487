"""Connections: how many there may be, and how long each may take; whoever only holds one open makes room for others.

A connection waits for a request, receives its body, or is being answered. While it waits it can be given up at any time: when
there are too many, the one that has waited longest goes. So ten thousand idle connections keep nobody out.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import h11
import orjson
from uvicorn.protocols.http.h11_impl import H11Protocol

from rehi.serve.application import HEADERS
from rehi.serve.malformed_http import NotingConnection, describe_malformed
from rehi.serve.problem_details import MEDIA_TYPE

LONGEST_HEAD = 300_000  # bytes of a request's line and headers: a query of 20,000 letters, percent-encoded, fits
HEAD_SECONDS = 10.0  # for a request's line and headers, from the first moment on
STALL_SECONDS = 20.0  # without a byte, of a body that is received or of an answer that is taken
SLOWEST = 200  # bytes a second of a body, after the first STALL_SECONDS
LINGER_SECONDS = 2.0  # in which more of a request that was refused is let in, so that its sender reads why
_SWEEP_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """How many connections there may be."""

    in_all: int
    by_address: int


class Connections:
    """All connections of a server, in the order in which they began to wait."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._waiting: OrderedDict[LimitedConnection, float] = OrderedDict()  # since when
        self._busy: dict[LimitedConnection, None] = {}
        self._by_address: Counter[str] = Counter()
        self._sweeping: asyncio.TimerHandle | None = None
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._busy)

    def admit(self, connection: LimitedConnection) -> bool:
        """Take a new connection in, if need be in the place of one that waits; False if there is no such place."""
        address = connection.address
        if self._by_address[address] >= self._limits.by_address and not self._give_up(address):
            return False
        if len(self) >= self._limits.in_all and not self._give_up():
            return False
        self._by_address[address] += 1
        self._waiting[connection] = connection.loop.time()
        if self._sweeping is None:
            self._sweeping = connection.loop.call_later(_SWEEP_SECONDS, self._sweep, connection.loop)
        return True

    def leave(self, connection: LimitedConnection) -> None:
        """Forget a connection that has ended."""
        if self._waiting.pop(connection, None) is None and self._busy.pop(connection, connection) is connection:
            return  # it was never admitted, or given up before
        self._forget_address(connection.address)

    def begin(self, connection: LimitedConnection) -> None:
        """Note that a connection's request has come: it is not given up any more while it moves."""
        if self._waiting.pop(connection, None) is not None:
            self._busy[connection] = None

    def wait(self, connection: LimitedConnection) -> None:
        """Note that a connection has been answered, and waits for its next request."""
        if self._busy.pop(connection, connection) is None:
            self._waiting[connection] = connection.loop.time()

    def _give_up(self, address: str = "") -> bool:
        """Close the connection that has waited longest, of an address if one is named; False if none waits."""
        for connection in self._waiting:
            if not address or connection.address == address:
                self._drop(connection)
                return True
        return False

    def _drop(self, connection: LimitedConnection) -> None:
        self.leave(connection)
        connection.transport.abort()
        self.dropped += 1

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close what took too long; runs every second while there are connections."""
        now = loop.time()
        late = []
        for connection, since in self._waiting.items():
            if now - since < HEAD_SECONDS:
                break  # all after it began to wait later
            late.append(connection)
        late += [connection for connection in self._busy if connection.is_stalled(now)]
        for connection in late:
            self._drop(connection)
        self._sweeping = loop.call_later(_SWEEP_SECONDS, self._sweep, loop) if len(self) else None

    def _forget_address(self, address: str) -> None:
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


class LimitedConnection(H11Protocol):
    """One connection, which reports to the register of all connections what it does."""

    register: Connections  # set by bind_protocol

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.conn: NotingConnection = NotingConnection(LONGEST_HEAD)
        self._received = 0  # bytes of the request that is being received
        self._began = self._moved = self.loop.time()
        self._unsent = 0
        self._is_refused = False

    @property
    def address(self) -> str:
        """The other side's address."""
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Enter the connection in the register, or close it at once if there are too many."""
        super().connection_made(transport)
        if not self.register.admit(self):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the connection out of the register."""
        self.register.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request, and drop what comes after one that was refused."""
        if self._is_refused:
            return
        self._received += len(data)
        self._moved = self.loop.time()
        super().data_received(data)

    def handle_events(self) -> None:
        """Begin the request whose head has come, if one has."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._received, self._began = 0, self.loop.time()
            self.register.begin(self)

    def _should_upgrade(self) -> bool:
        """Upgrade to nothing, as RFC 9110 allows, and without a warning in the log for each request that asks for it."""
        return False

    def eof_received(self) -> None:
        """Refuse a request that breaks off; the connection is closed in any case."""
        if self.conn.holds_part() and not self._is_refused:
            self.send_400_response("")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; if that is a request's body, whoever answers the request is told that nobody listens."""
        scope: Mapping[str, object] | None = None
        if self.cycle is not None and not self.cycle.response_complete:
            scope = self.cycle.scope
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.abort()
                return
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # the request was answered before its body had come
            return
        self._send_problem(scope)
        self._is_refused = True
        self.register.wait(self)
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _send_problem(self, scope: Mapping[str, object] | None) -> None:
        """Send the problem of a request of which the head is known, or not even that."""
        problem = describe_malformed(self.conn, str(scope["path"]) if scope else "")
        body = orjson.dumps(problem)
        headers = {**HEADERS, "content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
        is_head = scope is not None and scope["method"] == "HEAD"
        for event in (
            h11.Response(
                status_code=problem.status, headers=list(headers.items()), reason=HTTPStatus(problem.status).phrase
            ),
            h11.Data(data=b"" if is_head else body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")

    def on_response_complete(self) -> None:
        """Wait for the next request, which may have come already."""
        self.register.wait(self)
        super().on_response_complete()

    def is_stalled(self, now: float) -> bool:
        """Whether the other side neither sends what it promised nor takes what it asked for."""
        if self.cycle is not None and self.cycle.more_body and not self.cycle.response_complete:
            if self.flow.read_paused:  # what has come is not yet used: it is we who are slow
                self._moved = now
                return False
            lasted = now - self._began
            return now - self._moved > STALL_SECONDS or (
                lasted > STALL_SECONDS and self._received < SLOWEST * (lasted - STALL_SECONDS)
            )
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent != self._unsent:
            self._unsent, self._moved = unsent, now
        return now - self._moved > STALL_SECONDS


def bind_protocol(limits: ConnectionLimits) -> type[LimitedConnection]:
    """Return the protocol class of one server, whose connections share a register."""
    return type("BoundConnection", (LimitedConnection,), {"register": Connections(limits)})
