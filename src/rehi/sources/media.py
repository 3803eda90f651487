"""Promises: whether what a URL brings may hold text, by the declared type and by the extension.

What a server declares is weighed before what the path ends in, and both are compared as a whole: a search for "js"
inside the type would throw JSON away. What we know nothing of is kept; the visit will show what it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from rehi.model.media import MEDIA_TYPES, MediaGroup, by_name

Promise = Literal["text", "silent", "unknown"]  # what a type or an extension lets one expect

EXTENSIONS = frozenset(extension for row in MEDIA_TYPES for extension in row.extensions)
_SILENT_EXTENSIONS = frozenset(extension for row in MEDIA_TYPES if not row.has_words for extension in row.extensions)


@lru_cache(maxsize=4096)
def promise_of_type(declared: str) -> Promise:
    """Return what a declared media type, parameters and all, lets one expect."""
    row = by_name(declared)
    if row.group is MediaGroup.UNKNOWN or row.name == "text/plain":  # servers say so when they don't know
        return "unknown"
    return "text" if row.has_words else "silent"


def extension_of(url: str) -> str:
    """Return what the path of a normalised http URL ends in, in lower case: ``pdf``; empty if it has no extension."""
    path = url.partition("?")[0]
    name = path[path.rfind("/") + 1 :]
    if "." not in name:
        return ""
    stem, _, extension = name.partition(";")[0].rpartition(".")
    return extension.lower() if stem and len(extension) <= 8 else ""


def promise_of_url(url: str) -> Promise:
    """Return what the extension of a normalised URL lets one expect."""
    extension = extension_of(url)
    if extension in _SILENT_EXTENSIONS:
        return "silent"
    return "text" if extension in EXTENSIONS else "unknown"
