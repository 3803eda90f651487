"""A row of the table of media types, in the few words that a reader of the table needs.

It has the name, what people call the type, what it is for, how it is written, its extensions (the first is the one
that we give), and in ``aka`` the other names that servers send. ``formats`` are further names that data portals write,
with commas between them. An extension, a name and a format belong to one row only.
"""

from __future__ import annotations

from collections.abc import Iterable

from rehi.model.media_type import Magic, MediaGroup, MediaType, Syntax

PAGE, PROSE, TABLE, DATA = MediaGroup.PAGE, MediaGroup.TEXT, MediaGroup.TABLE, MediaGroup.DATA
GRAPH, MAP, FEED, DOCUMENT = MediaGroup.GRAPH, MediaGroup.MAP, MediaGroup.FEED, MediaGroup.DOCUMENT
MAIL, IMAGE, AUDIO, VIDEO = MediaGroup.MAIL, MediaGroup.IMAGE, MediaGroup.AUDIO, MediaGroup.VIDEO
FONT, MODEL, ARCHIVE, CODE = MediaGroup.FONT, MediaGroup.MODEL, MediaGroup.ARCHIVE, MediaGroup.CODE
PROGRAM, SIGNATURE, UNKNOWN = MediaGroup.PROGRAM, MediaGroup.SIGNATURE, MediaGroup.UNKNOWN
TEXT, HTML, XML, JSON, ZIP, OLE, BINARY = Syntax

WORDLESS = frozenset({IMAGE, AUDIO, VIDEO, FONT, MODEL, ARCHIVE, CODE, PROGRAM, SIGNATURE, UNKNOWN})
OPENXML = "application/vnd.openxmlformats-officedocument."
OPENDOCUMENT = "application/vnd.oasis.opendocument."


def row(
    name: str,
    label: str,
    group: MediaGroup,
    syntax: Syntax = BINARY,
    extensions: str = "",
    aka: str = "",
    *,
    formats: str = "",
    magic: Iterable[Magic] = (),
    members: tuple[bytes, ...] = (),
    root: str = "",
    compressed: bool | None = None,
    words: bool | None = None,
    general: bool = False,
) -> MediaType:
    """Return a row. Unless something else is given, a zip is compressed, and the group tells whether there are words."""
    return MediaType(
        name=name,
        label=label,
        group=group,
        syntax=syntax,
        extensions=tuple(extensions.split()),
        aliases=tuple(aka.split()),
        formats=tuple(part.strip() for part in formats.split(",") if part.strip()),
        magic=tuple(magic),
        members=members,
        root=root,
        is_compressed=syntax is ZIP if compressed is None else compressed,
        is_general=general,
        has_words=group not in WORDLESS if words is None else words,
    )


def at(*marks: bytes | tuple[int, bytes], weak: bool = False, within: int = 0) -> Magic:
    """Return magic of bytes that all must be there, at the beginning if no other place is given."""
    return Magic(tuple(mark if isinstance(mark, tuple) else (0, mark) for mark in marks), weak, within)


def start(*marks: bytes, weak: bool = False) -> tuple[Magic, ...]:
    """Return magic of which one must stand at the beginning."""
    return tuple(at(mark, weak=weak) for mark in marks)


def brand(*names: bytes) -> tuple[Magic, ...]:
    """Return the magic of the ISO media files of these brands."""
    return tuple(at(b"\0", (4, b"ftyp" + name)) for name in names)
