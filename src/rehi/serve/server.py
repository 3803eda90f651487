"""The server: uvicorn in a thread of its own."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from rehi.app import House
from rehi.errors import EngineError
from rehi.process import raise_descriptor_limit
from rehi.serve.application import create_app
from rehi.serve.connections import ConnectionLimits, bind_protocol
from rehi.serve.lane import QueryLane
from rehi.serve.shutdown import ShutdownNotice
from rehi.service import Service
from rehi.settings import Settings

_log = logging.getLogger(__name__)

BACKLOG = 2048  # connections that the system holds until we take them
FEWEST = 64  # connections, whatever the system allows
FILES = 65_536  # wanted in all, as far as the system allows
FILES_FOR_OTHERS = 1024  # kept for the harvest, the engines and everything but connections


@contextmanager
def running(house: House, service: Service, *, port: int | None = None) -> Iterator[str]:
    """Serve until the block ends; gives the page's address. EngineError if the port is taken."""
    settings = house.settings.serve
    listener = _listen(settings.host, settings.port if port is None else port)
    app = create_app(house, service)
    config = uvicorn.Config(
        ShutdownNotice(app),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        http=bind_protocol(_connection_limits(house.settings)),
        ws="none",
        backlog=BACKLOG,
    )
    server = _Server(config, app.state.lane)
    thread = threading.Thread(target=_serve, args=(server, listener), name="rehi-serve", daemon=True)
    thread.start()
    try:
        bound = listener.getsockname()
        yield f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}/"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()


def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    try:
        server.run(sockets=[listener])
    except Exception:  # a fault here costs the pages, and never the harvest
        _log.exception("nothing is served any more, by a fault of its own; the harvest goes on")


class _Server(uvicorn.Server):
    """A server that leaves signals to the command line, and refuses whoever waits for a query when it ends."""

    def __init__(self, config: uvicorn.Config, lane: QueryLane) -> None:
        super().__init__(config)
        self._lane = lane

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse whoever waits for a query, and end when all others are answered or their time is over."""
        self._lane.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _connection_limits(settings: Settings) -> ConnectionLimits:
    """Return how many connections there may be, so that everything else has the files it needs."""
    files = raise_descriptor_limit(FILES) - FILES_FOR_OTHERS
    in_all = max(min(settings.serve.connections, files), FEWEST)
    return ConnectionLimits(in_all=in_all, by_address=min(settings.serve.connections_by_address, in_all))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY on what it accepts; else answers on a connection that is kept
    # wait some 45 ms for the client's delayed ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise EngineError(
            f"port {port} on {host} can't be used ({error.strerror}); choose another with --port or serve.port"
        ) from error
    return listener
