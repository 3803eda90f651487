"""A body: the bytes to be read, with what is known of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Bytes with the name of their file, their true media type and the charset that their server declared.

    There is no more of their address: the same bytes are read once, wherever they lie.
    """

    raw: bytes
    file_name: str  # the last segment of the URL's path, as a person would write it
    media_type: str
    charset: str
    max_text: int  # characters; a reader may stop there


def file_name(url: str) -> str:
    """Return the last segment of a normalised URL's path; "" when there is none."""
    path = url.partition("#")[0].partition("?")[0].partition("://")[2]
    return unquote(path.partition("/")[2].rstrip("/").rpartition("/")[2])


def charset_of(media_type: str) -> str:
    """Return the charset parameter of a Content-Type; "" without one."""
    match = _CHARSET.search(media_type)
    return match[1].lower() if match else ""
