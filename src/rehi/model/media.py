"""What is known of media types, looked up by a name, an extension, a format's name or the first bytes.

This is the one place for such facts: the table stands in ``media_data.py`` and ``media_other.py``, a row for each type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from rehi.model.magic import by_bytes, is_binary
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
