"""HTTP/1.1 on the wire: requests are parsed, replies rendered."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from rehi.model.http import format_http_date, parse_http_date
from rehi.testing.world.replies import Reply, reason

LARGEST_HEAD = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldRequest:
    """The head of a request; without a method it could not be parsed."""

    method: str = ""
    target: str = ""  # path and query
    host: str = ""
    keep_alive: bool = False
    accepts_gzip: bool = False
    etag: str = ""
    since: str = ""
    content_length: int = 0


def parse_head(head: bytes) -> WorldRequest:
    """Parse the head of a request."""
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return WorldRequest()
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    host, target = headers.get("host", ""), parts[1]
    if target.startswith("http://"):  # as a proxy's client asks
        host, _, path = target[len("http://") :].partition("/")
        target = f"/{path}"
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        return WorldRequest()
    return WorldRequest(
        method=parts[0],
        target=target,
        host=host.partition(":")[0].lower(),
        keep_alive=parts[2] == "HTTP/1.1" and headers.get("connection", "").lower() != "close",
        accepts_gzip="gzip" in headers.get("accept-encoding", ""),
        etag=headers.get("if-none-match", ""),
        since=headers.get("if-modified-since", ""),
        content_length=int(length[:12]),
    )


def is_unchanged(reply: Reply, request: WorldRequest) -> bool:
    """Whether the client has this reply already, by its ETag or else by its date."""
    if reply.status != 200:
        return False
    if request.etag and reply.etag:
        return any(tag.strip().removeprefix("W/") in (reply.etag, "*") for tag in request.etag.split(","))
    if request.since and reply.last_modified is not None and not request.etag:
        since = parse_http_date(request.since)
        return since is not None and reply.last_modified.replace(microsecond=0) <= since
    return False


@lru_cache(1_024)
def _packed(body: bytes) -> bytes:
    return gzip.compress(body, 6, mtime=0)


def render_reply(reply: Reply, request: WorldRequest, now: datetime, *, keep: bool) -> bytes:
    """Return an ordinary reply as bytes; ``keep`` if the connection is kept open."""
    status, body = (304, b"") if is_unchanged(reply, request) else (reply.status, reply.body)
    lines = [
        f"HTTP/1.1 {status} {reason(status)}",
        f"Date: {format_http_date(now.replace(microsecond=0))}",
        "Server: rehemaa",
    ]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    if reply.etag:
        lines.append(f"ETag: {reply.etag}")
    if reply.last_modified is not None:
        lines.append(f"Last-Modified: {format_http_date(reply.last_modified)}")
    if reply.gzip:
        lines.append("Vary: Accept-Encoding")
        if request.accepts_gzip and body:
            body = _packed(body)
            lines.append("Content-Encoding: gzip")
    if status not in (204, 304):
        lines.append(f"Content-Length: {len(body)}")
    lines.append(f"Connection: {'keep-alive' if keep else 'close'}")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    return head if request.method == "HEAD" else head + body
