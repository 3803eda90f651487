"""Names for files that are made of URLs: safe on every system, and never the same for two URLs."""

from __future__ import annotations

import re
from hashlib import sha256
from urllib.parse import unquote, urlsplit

from rehi.model.media import by_name

_SEGMENT = 60  # characters of a folder or a file's stem
_DEEPEST = 8  # folders below the host
_LONGEST = 180  # characters of a whole name
_FOLDER = re.compile(r"[a-z0-9_-]{1,60}")
_FILE = re.compile(r"([a-z0-9_-]{1,60})\.([a-z0-9]{1,8})")
_HOST = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})


def name_in_folders(url: str, media_type: str, stamp: str = "") -> str:
    """Return a relative path for a URL: its own where every system can have it, else one that ends in a part of its digest.

    Folders have no dot and files have one, so that none is ever in the place of another; a folder may be shared.
    """
    scheme, host, folders, last = _split(url)
    plain = _plain(scheme, host, folders, last, has_query="?" in url)
    if plain is not None and len(plain) <= _LONGEST:
        stem, dot, extension = plain.rpartition(".")
        return f"{stem}@{stamp}{dot}{extension}" if stamp else plain
    stem, extension = _stem_and_extension(last, media_type)
    parts = [_cleaned(scheme) or "other", _renamed(_cleaned(host, also=".").strip(".") or "nowhere")]
    parts += [_renamed(_cleaned(folder) or "_") for folder in folders[:_DEEPEST] if folder]
    while len(parts) > 2 and sum(map(len, parts)) > _LONGEST - _SEGMENT - 50:
        parts.pop()
    mark = f"@{stamp}" if stamp else ""
    digest = sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return "/".join([*parts, f"{_renamed(stem)}{mark}~{digest}.{extension}"])


def name_of_file(url: str, media_type: str, stamp: str = "") -> str:
    """Return a single name under which what a URL had is saved."""
    stem, extension = _stem_and_extension(_split(url)[3], media_type)
    return f"{_renamed(stem)}{f'-{stamp}' if stamp else ''}.{extension}"


def _split(url: str) -> tuple[str, str, list[str], str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "other", "nowhere", [], ""
    *folders, last = parts.path.removeprefix("/").split("/")
    return parts.scheme, parts.netloc.rpartition("@")[2], folders, last


def _plain(scheme: str, host: str, folders: list[str], last: str, *, has_query: bool) -> str | None:
    """Return the URL's own path, if it can be one anywhere as it is."""
    file = _FILE.fullmatch(last)
    if has_query or file is None or file[1] in _DEVICES or scheme not in ("http", "https"):
        return None
    if not _HOST.fullmatch(host) or host.partition(".")[0] in _DEVICES:
        return None
    if any(not _FOLDER.fullmatch(folder) or folder in _DEVICES for folder in folders):
        return None
    return "/".join([scheme, host, *folders, last])


def _stem_and_extension(last: str, media_type: str) -> tuple[str, str]:
    stem, dot, extension = unquote(last, errors="replace").rpartition(".")
    known = dot and stem and re.fullmatch(r"[A-Za-z0-9]{1,8}", extension)
    if not known:
        stem, extension = f"{stem}{dot}{extension}", by_name(media_type).extension
    return _cleaned(stem) or "index", extension.lower()


def _cleaned(text: str, *, also: str = "") -> str:
    return re.sub(rf"[^a-z0-9_{re.escape(also)}-]+", "_", text.lower())[:_SEGMENT].strip("_")


def _renamed(segment: str) -> str:
    return f"_{segment}" if segment.partition(".")[0] in _DEVICES else segment
