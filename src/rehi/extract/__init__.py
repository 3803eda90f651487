"""The extract room: bytes in, a clean document out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import BinaryIO, cast

from rehi.errors import NotText, RehiError, Unreadable
from rehi.extract.body import Body, bare_type, charset_of
from rehi.extract.characters import clean
from rehi.extract.sniff import sniff
from rehi.model.document import Document

Reader = Callable[[Body], Document]

# A lazy table that outsiders extend through entry points of the group ``rehi.format``.
READERS = {
    "text/html": "rehi.extract.html:read",
    "application/xhtml+xml": "rehi.extract.html:read",
    "text/csv": "rehi.extract.csv:read",
    "text/tab-separated-values": "rehi.extract.csv:read",
    "application/json": "rehi.extract.json:read",
    "application/x-ndjson": "rehi.extract.json:read",
    "+json": "rehi.extract.json:read",
    "application/xml": "rehi.extract.xml:read",
    "+xml": "rehi.extract.xml:read",
    "application/pdf": "rehi.extract.pdf:read",
    "text/*": "rehi.extract.text:read",
}
_UNREAD = {"image/svg+xml", "text/css", "text/javascript", "text/ecmascript"}  # no names in these


def extract(body: BinaryIO, *, url: str, media_type: str, size: int, max_text: int) -> Document:
    """Read ``size`` bytes of the declared ``media_type`` as what they truly are; NotText or Unreadable if in vain."""
    raw = _all_of(body, size)
    true_type = sniff(raw, declared=media_type, url=url)
    job = Body(raw=raw, url=url, media_type=true_type, charset=charset_of(media_type), max_text=max_text)
    try:
        return _finish(_read(job), max_text)
    except Unreadable:
        if bare_type(media_type) != "text/plain" or true_type == "application/pdf":
            raise
    # Taken for more than it said it was, and that failed: it is a text at least.
    return _finish(_read(replace(job, media_type="text/plain")), max_text)


def _all_of(body: BinaryIO, size: int) -> bytes:
    """Up to ``size`` bytes; a stream may give them in pieces."""
    pieces: list[bytes] = []
    while size > 0 and (piece := body.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _read(job: Body) -> Document:
    reader = _reader(job.media_type)
    if reader is None:
        raise NotText(f"{job.media_type} holds no text that can be read")
    try:
        return reader(job)
    except (RehiError, MemoryError):
        raise
    except Exception as error:  # the parsers' own errors are many, and all mean that this document is no use to them
        raise Unreadable(f"{job.media_type}: {type(error).__name__}: {error}") from error


def _finish(document: Document, max_text: int) -> Document:
    return replace(document, text=clean(document.text[:max_text]).strip())


@cache
def _reader(media_type: str) -> Reader | None:
    """The reader of a type, of its kind of syntax, or of texts in general."""
    if media_type in _UNREAD or media_type.endswith("javascript"):
        return None
    _, plus, syntax = media_type.rpartition("+")
    family = media_type.partition("/")[0] + "/*"
    place = READERS.get(media_type) or READERS.get(plus + syntax if plus else "") or READERS.get(family)
    if place is None:
        place = next((point.value for point in entry_points(group="rehi.format", name=media_type)), None)
    if place is None:
        return None
    module, _, name = place.partition(":")
    return cast("Reader", getattr(import_module(module), name))
