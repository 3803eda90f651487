"""The extract room: bytes in, a clean document out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import BinaryIO, cast

from rehi.builtin import find, load_place
from rehi.errors import NotText, RehiError, Unreadable
from rehi.extract.body import Body, charset_of
from rehi.extract.characters import clean
from rehi.extract.sniff import sniff
from rehi.model.document import Document
from rehi.model.media import Syntax, by_name

Reader = Callable[[Body], Document]

VERSION = 1  # of how bytes are read; readings of another version are out of date
# The readers of types that have none of their own, by how they are written.
_BY_SYNTAX = {Syntax.XML: "+xml", Syntax.JSON: "+json", Syntax.TEXT: "text/*", Syntax.HTML: "text/html"}


def extract(body: BinaryIO, *, url: str, media_type: str, size: int, max_text: int) -> Document:
    """Read ``size`` bytes of the declared ``media_type`` as what they truly are; NotText or Unreadable if in vain."""
    raw = _all_of(body, size)
    true_type = sniff(raw, declared=media_type, url=url)
    job = Body(raw=raw, url=url, media_type=true_type, charset=charset_of(media_type), max_text=max_text)
    try:
        return _finish(_read(job), max_text)
    except Unreadable:
        if by_name(media_type).name != "text/plain" or true_type == "application/pdf":
            raise
    # Taken for more than it said it was, and that failed: it is a text at least.
    return _finish(_read(replace(job, media_type="text/plain")), max_text)


def has_reader(media_type: str) -> bool:
    """Whether bytes of this type can be read."""
    return _reader(media_type) is not None


def hint_of(url: str, media_type: str) -> str:
    """Return all that reading uses of a URL and of a declared type."""
    return f"{url} {media_type}"


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
    """Return the reader of a type, of its syntax, or of its family; None if there is none."""
    row = by_name(media_type)
    names = [media_type, row.name]
    if row.has_words or not row.is_text:  # styles, scripts and drawings are texts, but for no people
        _, plus, suffix = media_type.rpartition("+")
        names += [
            _BY_SYNTAX.get(row.syntax, ""),
            f"{plus}{suffix}" if plus else "",
            media_type.partition("/")[0] + "/*",
        ]
    for name in names:
        if name and (place := find("format", name)) is not None:
            return cast("Reader", load_place(place))
    return None
