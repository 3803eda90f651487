"""The extract room: bytes in, a clean document out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import BinaryIO, cast
from urllib.parse import quote

from rehi.builtin import find, is_built_in, load_place, packages
from rehi.errors import NotText, RehiError, SettingsError, Unreadable
from rehi.extract.body import Body, charset_of, file_name
from rehi.extract.characters import finish
from rehi.extract.iri import absolute, absolute_links
from rehi.extract.sniff import sniff
from rehi.model.document import Document
from rehi.model.media import Syntax, bare_name, by_name

Reader = Callable[[Body], Document]

VERSION = 2  # of how bytes are read; readings of another version are out of date
# The readers of types that have none of their own, by how they are written.
_BY_SYNTAX = {Syntax.XML: "+xml", Syntax.JSON: "+json", Syntax.TEXT: "text/*", Syntax.HTML: "text/html"}


def extract(body: BinaryIO, *, url: str, media_type: str, size: int, max_text: int) -> Document:
    """Read ``size`` bytes of the declared ``media_type`` as what they truly are; NotText or Unreadable if in vain."""
    document = read_bytes(body, name=file_name(url), media_type=media_type, size=size, max_text=max_text)
    return locate(document, url)


def read_bytes(body: BinaryIO, *, name: str, media_type: str, size: int, max_text: int) -> Document:
    """Read bytes as a document of which no more is known than the name of its file: its links are as they are written."""
    raw = _all_of(body, size)
    true_type = _find_type(raw, media_type, name)
    job = Body(raw=raw, file_name=name, media_type=true_type, charset=charset_of(media_type), max_text=max_text)
    try:
        return finish(_read(job), max_text)
    except Unreadable:
        if by_name(media_type).name != "text/plain" or true_type == "application/pdf":
            raise
    # Taken for more than it said it was, and that failed: it is a text at least.
    return finish(_read(replace(job, media_type="text/plain")), max_text)


def locate(document: Document, url: str) -> Document:
    """Return a document with absolute links, as it is found at a URL."""
    base = absolute(url, document.base) or url
    return replace(document, links=absolute_links(base, document.links))


def has_reader(media_type: str) -> bool:
    """Whether bytes of this type can be read."""
    return _place_of_reader(media_type) is not None


def hint_of(url: str, media_type: str) -> str:
    """Return all that reading uses of a URL and of a declared type: the name of the file, the type and the charset."""
    return f"{file_name(url)} {bare_name(media_type)} {charset_of(media_type)}"


def recipe_of() -> str:
    """Return how bytes are read, as a recipe names it, with the packages that bring formats: ``extract-2 acme-rehi-1.2``."""
    return " ".join([f"extract-{VERSION}", *packages("format")])


def _find_type(raw: bytes, declared: str, name: str) -> str:
    """Return the true type; one that an outsider's format is for is believed where the bytes don't say otherwise."""
    seen, given = sniff(raw, declared=declared, url=quote(name, safe="")), bare_name(declared)
    special = by_name(seen).is_general and not is_built_in("format", given) and find("format", given) is not None
    return given if special else seen


def _all_of(body: BinaryIO, size: int) -> bytes:
    """Return up to ``size`` bytes of a stream, which may give them in pieces."""
    pieces: list[bytes] = []
    while size > 0 and (piece := body.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _read(job: Body) -> Document:
    place = _place_of_reader(job.media_type)
    if place is None:
        raise NotText(f"{job.media_type} holds no text that can be read")
    try:
        reader = cast("Reader", load_place(place))
    except SettingsError as error:  # an outsider's format that can't be loaded
        raise Unreadable(str(error)) from error
    try:
        return reader(job)
    except (RehiError, MemoryError):
        raise
    except Exception as error:  # the parsers' own errors are many, and all mean that this document is no use to them
        raise Unreadable(f"{job.media_type}: {type(error).__name__}: {error}") from error


@cache
def _place_of_reader(media_type: str) -> str | None:
    """Return where the reader of a type, of its syntax, or of its family is; None if there is none."""
    row = by_name(media_type)
    names = [media_type, row.name]
    if row.has_words or not row.is_text:  # styles, scripts and drawings are texts, but for no people
        _, plus, suffix = media_type.rpartition("+")
        names += [
            _BY_SYNTAX.get(row.syntax, ""),
            f"{plus}{suffix}" if plus else "",
            media_type.partition("/")[0] + "/*",
        ]
    places = (find("format", name) for name in names if name)
    return next((place for place in places if place is not None), None)
