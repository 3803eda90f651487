"""A reply: what a server of the practice web sends, whether it behaves or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An ordinary answer. The server adds the date and the length, and answers conditional requests with 304."""

    status: int = 200
    headers: Headers = ()
    body: bytes = b""
    etag: str = ""
    last_modified: datetime | None = None
    gzip: bool = False  # if the client accepts it


@dataclass(frozen=True, slots=True)
class Wait:
    """Send nothing for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reset:
    """Reset the connection, so that the client does not see an orderly end."""


Step = bytes | Wait | Reset


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """An answer that breaks the rules: what is done on the socket, step by step, before the connection is closed."""

    steps: Callable[[], Iterator[Step]]


Answer = Reply | Misbehaviour


def reason(status: int) -> str:
    """Return the reason phrase of a status."""
    return HTTPStatus(status).phrase


def head(status: int, media_type: str, *more: tuple[str, str]) -> bytes:
    """Return a status line and headers as bytes, for misbehaviours."""
    lines = [f"HTTP/1.1 {status} {reason(status)}", f"Content-Type: {media_type}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
