"""A small object store on loopback that lacks what it is told to lack, for what a real one never does."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

DATE = "Mon, 02 Mar 2026 08:00:00 GMT"


@dataclass
class LimitedS3:
    """What it has, what it can do, and what it was asked."""

    ranges: bool = True
    conditions: bool = True
    objects: dict[str, bytes] = field(default_factory=dict)
    puts: list[str] = field(default_factory=list)
    endpoint: str = ""

    @contextmanager
    def running(self) -> Iterator[LimitedS3]:
        """It answers as long as this lasts."""
        limited = self

        class Handler(_Handler):
            store = limited

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
            thread = threading.Thread(target=server.serve_forever, args=(0.02,))
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()


class _Handler(BaseHTTPRequestHandler):
    store: LimitedS3
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.store.conditions and self.headers["If-None-Match"] == "*" and self._key in self.store.objects:
            return self._answer(412)
        if self.headers["x-amz-copy-source"]:
            return self._answer(501)
        self.store.objects[self._key] = body
        self.store.puts.append(self._key)
        return self._answer(200, etag=body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self._answer(501)

    def do_DELETE(self) -> None:
        self.store.objects.pop(self._key, None)
        self._answer(204)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        if "list-type" in query:
            return self._list(query.get("prefix", [""])[0])
        body = self.store.objects.get(self._key)
        if body is None:
            return self._answer(404)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        if asked and self.store.ranges:
            start, end = int(asked[1]), min(int(asked[2]) + 1, len(body))
            where = f"bytes {start}-{end - 1}/{len(body)}"
            return self._answer(206, body[start:end], etag=body, **{"Content-Range": where})
        return self._answer(200, body, etag=body)

    def _list(self, prefix: str) -> None:
        objects = [(key, body) for key, body in self.store.objects.items() if key.startswith(prefix)]
        rows = "".join(
            f"<Contents><Key>{key}</Key><LastModified>2026-03-02T08:00:00Z</LastModified><Size>{len(body)}</Size>"
            f"<ETag>{hashlib.md5(body).hexdigest()}</ETag></Contents>"
            for key, body in objects
            if "/" not in key[len(prefix) :]
        )
        self._answer(200, f"<ListBucketResult>{rows}<IsTruncated>false</IsTruncated></ListBucketResult>".encode())

    @property
    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix("/").partition("/")[2]

    def _answer(self, status: int, body: bytes = b"", *, etag: bytes | None = None, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if etag is not None:
            self.send_header("ETag", f'"{hashlib.md5(etag).hexdigest()}"')
        self.send_header("Last-Modified", DATE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
