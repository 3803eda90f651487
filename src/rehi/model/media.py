"""What is known of media types, looked up by a name, an extension, a format's name or the first bytes.

This is the one place for such facts: the table stands in ``media_data.py`` and ``media_other.py``, a row for each type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from rehi.model.media_data import DATA_TYPES
from rehi.model.media_other import OTHER_TYPES
from rehi.model.media_row import OPENDOCUMENT, OPENXML, WORDLESS
from rehi.model.media_type import Magic, MediaGroup, MediaType, Syntax

__all__ = [
    "MEDIA_TYPES",
    "UNKNOWN",
    "Magic",
    "MediaGroup",
    "MediaType",
    "Syntax",
    "bare_name",
    "by_bytes",
    "by_extension",
    "by_format",
    "by_name",
    "is_binary",
    "may_be_page",
]

MEDIA_TYPES = (*DATA_TYPES, *OTHER_TYPES)

_BY_NAME: Mapping[str, MediaType] = {name: row for row in MEDIA_TYPES for name in (row.name, *row.aliases)}
_BY_EXTENSION: Mapping[str, MediaType] = {extension: row for row in MEDIA_TYPES for extension in row.extensions}
UNKNOWN = _BY_NAME["application/octet-stream"]

# What the names of types outside the table tell.
_FAMILIES: Mapping[str, MediaGroup] = {
    "text": MediaGroup.TEXT,
    "message": MediaGroup.MAIL,
    "image": MediaGroup.IMAGE,
    "audio": MediaGroup.AUDIO,
    "video": MediaGroup.VIDEO,
    "font": MediaGroup.FONT,
    **dict.fromkeys(("model", "chemical", "x-world", "x-conference"), MediaGroup.MODEL),
}
_COMPRESSED = frozenset({MediaGroup.IMAGE, MediaGroup.AUDIO, MediaGroup.VIDEO, MediaGroup.FONT})
_SUFFIXES: Mapping[str, Syntax] = {
    "xml": Syntax.XML,
    "json": Syntax.JSON,
    "json-seq": Syntax.TEXT,
    "yaml": Syntax.TEXT,
    "zip": Syntax.ZIP,
}
_WORDS = re.compile(r"[^\W_]+")  # "RDF_XML" and "RDF/XML" are the same two words
_PACKED_FORMATS = frozenset({"zip", "gz", "gzip", "7z", "rar", "tar"})
_IANA = "/assignments/media-types/"
_LOOKED_AT = 65_536  # bytes at each end of a zip file: its first files, and the directory of all of them
_CONTROLS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\f\r\x1b")
# The mark that may stand anywhere near the beginning; PDF is the only one.
_FLOATING = tuple((magic.marks[0][1], magic.within, row) for row in MEDIA_TYPES for magic in row.magic if magic.within)
# What begins as other zip files do is told by its members. One that is called so names the type.
_NAMING = b"mimetype"
_NAMED = [(member, row) for row in MEDIA_TYPES for member in row.members if member.startswith(_NAMING)]
_UNNAMED = [(member, row) for row in MEDIA_TYPES for member in row.members if not member.startswith(_NAMING)]
_Candidate = tuple[int, bytes, tuple[tuple[int, bytes], ...], bool, MediaType]


def bare_name(declared: str) -> str:
    """Return a declared media type without its parameters, in lower case."""
    return declared.partition(";")[0].strip().lower()


@lru_cache(maxsize=4096)
def by_name(declared: str) -> MediaType:
    """Return the row of a declared type, parameters and all; one made after the rules for names if there is none."""
    name = bare_name(declared)
    return _BY_NAME.get(name) or _unlisted(name)


def may_be_page(declared: str) -> bool:
    """Whether a web page may come under this type: many servers declare their pages as texts, or as nothing."""
    row = by_name(declared)
    return row.group is MediaGroup.PAGE or row.name in ("", "text/plain")


def by_extension(extension: str) -> MediaType | None:
    """Return the row of the type whose files end so (``csv``, in any case, without the dot); None if there is none."""
    return _BY_EXTENSION.get(extension.lower())


def by_format(text: str) -> MediaType | None:
    """Return the row of a format as data portals write it; None if it names no type, or several.

    It may be a name ("Excel", "RDF/XML", ".csv", "ESRI Shapefile"), a media type, or the IRI of one in IANA's register
    or in a list of file types. Of "CSV (zipped)" the zip counts, for that is what comes.
    """
    if _IANA in text:
        text = text.rpartition(_IANA)[2]
    elif "://" in text:
        text = re.split(r"[/#]", text.rstrip("/"))[-1]
    if row := _BY_NAME.get(bare_name(text)):
        return row if row.group is not MediaGroup.UNKNOWN else None
    words = _WORDS.findall(text.lower())
    return _by_words("".join(words)) or _only(_in_archive(words)) or _only(words)


def _by_words(joined: str) -> MediaType | None:
    return _BY_EXTENSION.get(joined) or _formats().get(joined)


def _in_archive(words: Iterable[str]) -> list[str]:
    """Return the words that name an archive."""
    return ["zip" if word == "zipped" else word for word in words if word in _PACKED_FORMATS or word == "zipped"]


def _only(words: Iterable[str]) -> MediaType | None:
    """Return the one type that these words name; extensions count more than other names."""
    for table in (_BY_EXTENSION, _formats()):
        rows = {row.name: row for word in words if (row := table.get(word)) is not None}
        if rows:
            return next(iter(rows.values())) if len(rows) == 1 else None
    return None


@cache
def _formats() -> Mapping[str, MediaType]:
    """Return the rows by what people call them, in letters and digits only."""
    return {"".join(_WORDS.findall(text.lower())): row for row in MEDIA_TYPES for text in (row.label, *row.formats)}


def _unlisted(name: str) -> MediaType:
    """Return a row for a type that is not in the table, by what its name tells."""
    family, _, rest = name.partition("/")
    group = _FAMILIES.get(family, MediaGroup.UNKNOWN) if rest else MediaGroup.UNKNOWN
    syntax = _SUFFIXES.get(rest.rpartition("+")[2]) if "+" in rest else None
    if name.startswith((OPENXML, OPENDOCUMENT)):
        group, syntax = MediaGroup.DOCUMENT, Syntax.ZIP
    if syntax is None:
        syntax = Syntax.TEXT if group in (MediaGroup.TEXT, MediaGroup.MAIL) else Syntax.BINARY
    elif group is MediaGroup.UNKNOWN and syntax is not Syntax.ZIP:
        group = MediaGroup.DATA
    return MediaType(
        name=name,
        label=name,
        group=group,
        syntax=syntax,
        is_compressed=syntax is Syntax.ZIP or (syntax is Syntax.BINARY and group in _COMPRESSED),
        has_words=group not in WORDLESS,
    )


def by_bytes(raw: bytes) -> MediaType | None:
    """Return the row of the type that the first bytes of a file prove; None if they prove none."""
    for mark, within, row in _FLOATING:
        if mark in raw[:within]:
            return row
    for offset, mark, further, is_weak, row in _candidates(raw[:1]):
        if (
            raw.startswith(mark, offset)
            and (not further or all(raw.startswith(other, place) for place, other in further))
            and (not is_weak or is_binary(raw))
        ):
            return _by_members(raw, row) if row.syntax is Syntax.ZIP else row
    return None


def is_binary(raw: bytes) -> bool:
    """Whether more than a hundredth of the first bytes are controls that no text has; noise has a tenth."""
    sample = raw[:8192]
    return len(sample) - len(sample.translate(None, _CONTROLS)) > len(sample) / 100


@cache
def _candidates(first: bytes) -> tuple[_Candidate, ...]:
    """Return the magic that a file with this first byte may have, the longest first."""
    magics = [
        (magic, row)
        for row in MEDIA_TYPES
        for magic in row.magic
        if not magic.within and (magic.marks[0][0] or magic.marks[0][1].startswith(first))
    ]
    magics.sort(key=lambda pair: (-sum(len(mark) for _, mark in pair[0].marks), pair[0].marks[0][0]))
    return tuple((*magic.marks[0], magic.marks[1:], magic.is_weak, row) for magic, row in magics)


def _by_members(raw: bytes, row: MediaType) -> MediaType:
    """Return the row of the type of zip file whose members these are; the row that is given if they tell nothing."""
    names = _directory(raw)
    if _NAMING in names and (named := _by_member(raw[:_LOOKED_AT], _NAMED)) is not None:
        return named
    return _by_member(names, _UNNAMED) or row


def _by_member(sample: bytes, rows: Iterable[tuple[bytes, MediaType]]) -> MediaType | None:
    return next((row for member, row in rows if member in sample), None)


def _directory(raw: bytes) -> bytes:
    """Return the directory of a zip file with the names of its members; both ends of a file that has none at hand."""
    tail = raw[-_LOOKED_AT:]
    end = tail.rfind(b"PK\5\6")
    size = int.from_bytes(tail[end + 12 : end + 16], "little")
    if 0 < size <= end and tail.startswith(b"PK\1\2", end - size):
        return tail[end - size : end]
    return raw[:_LOOKED_AT] + tail
