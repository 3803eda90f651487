"""A media type: what is known of one kind of file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# The bytes with which files begin that several rooms look at themselves; those of all other types stand in their rows.
GZIP_MAGIC = b"\x1f\x8b"
GZIP_MEMBER_MAGIC = GZIP_MAGIC + b"\x08"  # with the number of deflate, the only method that was ever used
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"  # of the skippable frame with which a .warc.zst may begin
WARC_MAGIC = b"WARC/"
ARC_MAGIC = b"filedesc:"


class MediaGroup(StrEnum):
    """What a file is for, as people sort files."""

    PAGE = "page"
    TEXT = "text"
    TABLE = "table"
    DATA = "data"
    GRAPH = "graph"
    MAP = "map"
    FEED = "feed"
    DOCUMENT = "document"
    MAIL = "mail"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    FONT = "font"
    MODEL = "model"
    ARCHIVE = "archive"
    CODE = "code"
    PROGRAM = "program"
    SIGNATURE = "signature"
    UNKNOWN = "unknown"


class Syntax(StrEnum):
    """How the bytes are written; ``BINARY`` is every syntax that only one type has."""

    TEXT = "text"
    HTML = "html"
    XML = "xml"
    JSON = "json"
    ZIP = "zip"
    OLE = "ole"  # Microsoft's compound file, in which the Office of 1997 to 2003 wrote
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Magic:
    """Bytes at fixed places by which a type can be told."""

    marks: tuple[tuple[int, bytes], ...]  # (offset, bytes); all of them must be there
    is_weak: bool = False  # honest texts begin so too ("BMW …"), so it counts only if the bytes are binary
    within: int = 0  # the one mark may begin anywhere in so many first bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaType:
    """One kind of file: its names, and what follows from its kind."""

    name: str  # in lower case; IANA's if it has one that servers use, else the one they use most
    label: str  # what people call it
    group: MediaGroup
    syntax: Syntax = Syntax.BINARY
    extensions: tuple[str, ...] = ()  # the first is the one that we give
    aliases: tuple[str, ...] = ()  # other names that servers send
    formats: tuple[str, ...] = ()  # other names that people and data portals write
    magic: tuple[Magic, ...] = ()
    members: tuple[bytes, ...] = ()  # bytes that stand in a zip file of this type and in no other
    root: str = ""  # of an XML document of this type, in lower case, where it belongs to no other type
    is_compressed: bool = False  # compressed already, so that compressing it again gains next to nothing
    is_general: bool = False  # tells only how the bytes are written, and they may be something more special
    has_words: bool = True  # whether it may hold text for people to read, as no image and no program does

    @property
    def is_text(self) -> bool:
        """Whether the bytes are characters that can be shown and compared as they stand."""
        return self.syntax in _TEXTS

    @property
    def extension(self) -> str:
        """The extension that a file of this type should have; ``bin`` if none is known."""
        return self.extensions[0] if self.extensions else "bin"


_TEXTS = frozenset({Syntax.TEXT, Syntax.HTML, Syntax.XML, Syntax.JSON})
