"""Harmless markup: an archived document in which nothing makes a browser reach out to where it came from.

The policy that goes with a replayed page keeps a browser from fetching what is not kept here. Yet Chromium connects to the
host of a frame before it looks at the policy, and no policy speaks of ``preconnect``. So the names of such elements get
another first letter: ``<iframe`` becomes ``<xframe``, which means nothing. No byte is added or taken away, so lengths and
ranges hold, and the bytes may come in any charset: between the letters there may be NULs (UTF-16) or escape sequences
(ISO-2022-JP). Frames with relative addresses stay, for they lead to what is kept here. What is shown as text may lose
a letter too, where it speaks of tags; the raw bytes are always to be had with ``id_``.
"""

from __future__ import annotations

import re
from io import RawIOBase
from typing import BinaryIO

CHUNK = 65_536
LONGEST_TAG = 4_096  # bytes; a longer tag of a kind that has to be looked into is taken for a bad one
_SWALLOWED = re.compile(rb"\x00|\x1b\([BIJ]|\x1b\$[@B]")
_BETWEEN = b"(?:" + _SWALLOWED.pattern + b"){0,4}"
_ALWAYS = (b"object", b"embed", b"applet", b"portal", b"fencedframe", b"base")
_FRAMES = (b"iframe", b"frame")
_LOOKED_INTO = (b"link", b"meta")
# What an XML document declares for itself can be any of those: entities, attributes by default, elements made by XSLT.
_DECLARATIONS = (b"entity", b"attlist", b"xml-stylesheet")
_NAMES = (*_ALWAYS, *_FRAMES, *_LOOKED_INTO, *_DECLARATIONS)
_ATTRIBUTE = re.compile(
    rb"""[\t\n\f\r /]*([^\t\n\f\r />="'<\x00\x1b]+)[\t\n\f\r ]*(?:=[\t\n\f\r ]*("[^"]*"|'[^']*'|[^\t\n\f\r >"'<=`]+))?"""
)
_TAG_END = re.compile(rb"[\t\n\f\r /]*>")
_STAYS_HERE = re.compile(rb"(?!\.*/)[A-Za-z0-9_.-][A-Za-z0-9_./%?=-]*")  # no scheme, no host, no folder above
_DOCUMENT = re.compile(r"html|xml|multipart|mhtml|rfc822", re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+\s*(?:;.*)?", re.ASCII)


def is_document_type(media_type: str) -> bool:
    """Whether a browser may take something of this declared type for a document that refers to others."""
    return _DOCUMENT.search(media_type) is not None or (
        bool(media_type.strip()) and _MEDIA_TYPE.fullmatch(media_type.strip()) is None
    )


def _compile(opening: bytes) -> re.Pattern[bytes]:
    """Return the pattern of a tag's beginning, up to the end of its name; the group is the name."""
    names = (_BETWEEN.join(re.escape(bytes([letter])) for letter in name) for name in _NAMES)
    sign = _BETWEEN + rb"(?P<sign>[/!?]?)" + _BETWEEN
    return re.compile(opening + sign + rb"(?P<name>" + b"|".join(names) + rb")(?=[\t\n\f\r />\x00\x1b])", re.IGNORECASE)


_HTML, _XML = _compile(b"<"), _compile(b"[<:]")  # in XML, names have prefixes


class HarmlessMarkup(RawIOBase):
    """A document as it is read, with names changed that would make a browser reach out."""

    def __init__(self, body: BinaryIO, media_type: str) -> None:
        self._body = body
        self._is_xml = "xml" in media_type.lower()
        self._raw, self._ready, self._ended = b"", b"", False

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return as many bytes as are wanted, or fewer; none at the end."""
        while not self._ready and not self._ended:
            self._advance()
        size = len(self._ready) if size < 0 else size
        chunk, self._ready = self._ready[:size], self._ready[size:]
        return chunk

    def close(self) -> None:
        """Close the document, and the body that it is read from."""
        self._body.close()
        super().close()

    def _advance(self) -> None:
        """Make what has come ready, but for the last bytes, which may be the beginning of a tag."""
        more = self._body.read(CHUNK)
        self._ended = not more
        raw = self._raw + more
        changed, until = bytearray(raw), len(raw) if self._ended else max(0, len(raw) - LONGEST_TAG)
        for match in (_XML if self._is_xml else _HTML).finditer(raw):
            if match.start() >= until:
                break
            if not self._may_stay(raw, match):
                first = match.start("name")
                changed[first] = ord("y" if changed[first] in b"xX" else "x")
        self._ready, self._raw = bytes(changed[:until]), bytes(changed[until:])

    def _may_stay(self, raw: bytes, match: re.Match[bytes]) -> bool:
        """Whether a tag is a style sheet, metadata that orders nothing, or a frame of what is kept here."""
        name = _SWALLOWED.sub(b"", match["name"]).lower()
        if name not in _LOOKED_INTO and (name not in _FRAMES or self._is_xml):
            return False  # in XML an end without its beginning is an error, so frames go with their ends
        if match["sign"]:
            return True
        attributes = _attributes(raw, match.end())
        if attributes is None:
            return False
        if name == b"link":
            return attributes.get(b"rel", b"").strip().lower() == b"stylesheet"
        if name == b"meta":
            return attributes.get(b"http-equiv", b"content-type").strip().lower() == b"content-type"
        return b"srcdoc" not in attributes and _STAYS_HERE.fullmatch(attributes.get(b"src", b".")) is not None


def _attributes(raw: bytes, at: int) -> dict[bytes, bytes] | None:
    """Return the attributes of a tag, the first of each name; None if it is not written as usual, or does not end."""
    attributes: dict[bytes, bytes] = {}
    end = at + LONGEST_TAG
    while not _TAG_END.match(raw, at, end):
        match = _ATTRIBUTE.match(raw, at, end)
        if match is None:
            return None
        value = match[2] or b""
        attributes.setdefault(match[1].lower(), value[1:-1] if value[:1] in (b'"', b"'") else value)
        at = match.end()
    return attributes
