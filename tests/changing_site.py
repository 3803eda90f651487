"""A site whose pages are different at each visit, and that remembers what it has said."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Self


class ChangingSite:
    """Pages at ``/0`` to ``/n``: a long list of which a few lines change with each request."""

    def __init__(self, *, pages: int = 12, lines: int = 60) -> None:
        self.said: defaultdict[str, set[str]] = defaultdict(set)  # digests by path
        self.requests = 0
        self._pages = {f"/{page}": [_line(page, line) for line in range(lines)] for page in range(pages)}
        self._lock = threading.Lock()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = site.page(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8" if body else "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def urls(self) -> list[str]:
        return [self.origin + path for path in self._pages]

    def page(self, path: str) -> bytes:
        """What the page says now; nothing for one that there is not."""
        with self._lock:
            lines = self._pages.get(path)
            if lines is None:
                return b""
            self.requests += 1
            lines[self.requests % len(lines)] = _line(self.requests, self.requests)
            body = "".join(lines).encode()
            self.said[path].add(f"sha256:{hashlib.sha256(body).hexdigest()}")
            return body

    def remove(self, path: str) -> None:
        """Have a page no more."""
        with self._lock:
            del self._pages[path]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _line(seed: int, number: int) -> str:
    return f"<li>{number}: {Random(seed * 1_000 + number).getrandbits(120):x}</li>\n"
