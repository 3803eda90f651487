"""Ranges: a part of a body, and whether the one that asks has it already."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import BinaryIO

from starlette.concurrency import iterate_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from rehi.errors import RehiError

CHUNK = 262_144
_RANGE = re.compile(r"bytes=[ \t]*(\d*)[ \t]*-[ \t]*(\d*)[ \t]*", re.ASCII | re.IGNORECASE)
_TAG = re.compile(r'(?:W/)?("[^"]*")')


class CarefulStream(StreamingResponse):
    """A stream that is broken off when its source fails, so that nobody takes a part of it for the whole."""

    def __init__(self, chunks: Iterator[bytes], *, status: int = 200, headers: dict[str, str]) -> None:
        super().__init__(iterate_in_threadpool(chunks), status_code=status, headers=headers)
        self._chunks = chunks

    async def stream_response(self, send: Send) -> None:
        """Send it all, or leave the answer without its end, which the client notices."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            body: AsyncIterator[bytes] = self.body_iterator  # type: ignore[assignment]
            async for chunk in body:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except RehiError as error:
            logging.getLogger(__name__).warning("an answer was broken off: %s", error)
            return
        finally:
            if isinstance(self._chunks, Generator):
                self._chunks.close()  # its files, if the client went away
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def answer_with(
    request: Request, open_body: Callable[[], BinaryIO], *, size: int, tag: str, headers: dict[str, str], status: int
) -> Response:
    """Answer with a body, a part of it, its headers alone, or that it is still the same."""
    shared = {**headers, "etag": tag, "accept-ranges": "bytes"}
    if status == 200 and _is_known(request, tag):
        unsent = {name: value for name, value in shared.items() if name != "content-type"}
        return Response(status_code=304, headers=unsent)
    part = _part(request, size, tag) if status == 200 else None
    first, end = part or (0, size)
    shared["content-length"] = str(end - first)
    if part is not None:
        status = 206
        shared["content-range"] = f"bytes {first}-{end - 1}/{size}"
    if request.method == "HEAD":
        return _HeadResponse(status_code=status, headers=shared)
    body = open_body()
    return CarefulStream(_read(body, first, end), status=status, headers=shared)


class _HeadResponse(Response):
    """The headers of an answer whose body is not sent; their Content-Length is that of the body."""

    def init_headers(self, headers: object = None) -> None:
        pairs = headers.items() if isinstance(headers, dict) else ()
        self.raw_headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs]


def _read(body: BinaryIO, first: int, end: int) -> Iterator[bytes]:
    with body:
        place = 0
        while place < end:
            skip = place < first
            chunk = body.read(min(CHUNK, (first if skip else end) - place))
            if not chunk:
                break
            place += len(chunk)
            if not skip:
                yield chunk
        # The digest is known only when all was read: one byte more, where that is all there is.
        body.read(1)


def _is_known(request: Request, tag: str) -> bool:
    given = request.headers.get("if-none-match")
    return given is not None and (given.strip() == "*" or tag in _TAG.findall(given))


def _part(request: Request, size: int, tag: str) -> tuple[int, int] | None:
    """Return the first byte and the one after the last of a single range; None for everything, also if it can't be read."""
    given = request.headers.get("range", "")
    match = _RANGE.fullmatch(given)
    if match is None or not (match[1] or match[2]) or request.headers.get("if-range", tag).strip() != tag:
        return None
    low, high = (int(number[:20]) if number else None for number in match.groups())
    if low is None:
        last = min(high or 0, size)
        first, end = size - last, size
    else:
        if high is not None and high < low:
            return None
        first, end = low, size if high is None else min(high + 1, size)
    if first >= end:
        raise HTTPException(416, f"there are {size:,} bytes", headers={"content-range": f"bytes */{size}"})
    return first, end
