"""A reply: what a server of the practice web says, whether it behaves or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An ordinary answer. The server adds the date, the length and the conditional answers."""

    status: int = 200
    headers: Headers = ()
    body: bytes = b""
    etag: str = ""
    last_modified: datetime | None = None
    gzip: bool = False  # if the client accepts it


@dataclass(frozen=True, slots=True)
class Wait:
    """Say nothing for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reset:
    """Break the connection off, so that the client sees a reset and not an end."""


Step = bytes | Wait | Reset


@dataclass(frozen=True, slots=True)
class Conduct:
    """Misbehaviour: what is done on the socket, step by step, before the connection is closed."""

    steps: Callable[[], Iterator[Step]]


Answer = Reply | Conduct


def reason(status: int) -> str:
    """The words after the status."""
    return HTTPStatus(status).phrase


def head(status: int, media_type: str, *more: tuple[str, str]) -> bytes:
    """A status line and headers, for conducts that write their own."""
    lines = [f"HTTP/1.1 {status} {reason(status)}", f"Content-Type: {media_type}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
