"""Addresses of what is kept: ``/web/`` with digits and a URL, whose every character is meant as it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.types import Scope

WEB = "/web/"
SAVE = "dl_"  # after the digits: to be saved and not shown
RAW = "id_"  # the bytes as they came, for programs
_HOST = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")
_STAMP = re.compile(r"(\d{4,20})([a-z]{2}_)?/(.+)", re.DOTALL)
_CALENDAR = re.compile(r"\d{0,20}\*/(.+)", re.DOTALL)
_TIMEMAP = re.compile(r"timemap/(link|json)/(.+)", re.DOTALL)
REPLAY = re.compile(r"/web/\d+[a-z_]*/")  # with which a path to the bytes of something that is kept begins
_SLASHES = re.compile(r"(https?):/*(?=[^/])", re.IGNORECASE)
_AS_IT_IS = re.compile(r"[!$-;=?-\[\]-_a-z|~^]+(?<!\?)")  # no quote, #, <, >, backslash, ` or braces


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    """What a path under /web/ asks for."""

    kind: str  # "memento", "timegate", "calendar", "link" or "json"
    url: str
    digits: str = ""
    mode: str = ""  # two letters and a line, as in "id_"; with RAW and SAVE nothing is changed

    @property
    def save(self) -> bool:
        """Whether the bytes are to be saved as a file, not shown."""
        return self.mode == SAVE


def parse_web(scope: Scope) -> WebAddress | None:
    """Return the address as it was asked, before anything in it was decoded; None if there is no URL in it."""
    rest = scope["raw_path"].decode("latin-1").removeprefix(WEB)
    if query := scope["query_string"]:
        rest += f"?{query.decode('latin-1')}"
    if match := _TIMEMAP.fullmatch(rest):
        return WebAddress(kind=match[1], url=repair(match[2]))
    if match := _CALENDAR.fullmatch(rest):
        return WebAddress(kind="calendar", url=repair(match[1]))
    if match := _STAMP.fullmatch(rest):
        return WebAddress(kind="memento", digits=match[1], mode=match[2] or "", url=repair(match[3]))
    return WebAddress(kind="timegate", url=repair(rest)) if rest else None


def repair(url: str) -> str:
    """Return a URL whose slashes may have been lost on the way, or which was escaped as a whole, as it was meant."""
    if re.match(r"https?%3a", url, re.IGNORECASE):
        url = unquote(url)
    return _SLASHES.sub(lambda match: f"{match[1].lower()}://", url, count=1) if _SLASHES.match(url) else url


def web_path(url: str, prefix: str = "") -> str:
    """Return the path of a URL with what stands before it: digits, ``*``, ``timemap/link`` or nothing."""
    shown = url if _AS_IT_IS.fullmatch(url) else quote(url, safe="")
    return f"{WEB}{prefix}/{shown}" if prefix else f"{WEB}{shown}"


def base_of(request: Request) -> str:
    """Return scheme and host as they were asked for, without a slash at the end; "" if they can't stand in a header."""
    host = host_of(request)
    return f"{request.url.scheme}://{host}" if host else ""


def host_of(request: Request) -> str:
    """Return the host with its port, if it is one; a header may say anything."""
    host = request.headers.get("host", "")
    return host if _HOST.fullmatch(host) else ""
