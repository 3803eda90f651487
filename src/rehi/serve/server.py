"""The server: uvicorn in a thread of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from rehi.app import House
from rehi.errors import EngineError
from rehi.serve.application import create_app
from rehi.service import Service

LONGEST_HEAD = 300_000  # bytes of a request's line and headers: a query of 20,000 letters, percent-encoded, fits


@contextmanager
def running(house: House, service: Service, *, port: int | None = None) -> Iterator[str]:
    """Serve until the block ends; gives the page's address. EngineError if the port is taken."""
    settings = house.settings.serve
    listener = _listen(settings.host, settings.port if port is None else port)
    app = create_app(house, service)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=LONGEST_HEAD,
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="rehi-serve", daemon=True)
    thread.start()
    try:
        bound = listener.getsockname()
        yield f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}/"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()


class _Server(uvicorn.Server):
    """The command line has its own signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise EngineError(
            f"port {port} on {host} can't be used ({error.strerror}); choose another with --port or serve.port"
        ) from error
    return listener
