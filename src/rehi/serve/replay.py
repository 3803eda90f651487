"""Replay: what was kept, under the addresses that web archives use, with Memento (RFC 7089).

Whatever an archived page holds, it is shown without rights: no script, no form, nothing from elsewhere, in an origin of
its own. With ``id_`` and ``dl_`` it comes byte for byte. See docs/memento.md.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, BinaryIO, cast

from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rehi.app import House
from rehi.errors import ArchiveError, SettingsError
from rehi.model.capture import Capture
from rehi.model.http import REDIRECTS, format_http_date, parse_http_date
from rehi.model.version import RecordRef
from rehi.model.visit import Headers, Outcome
from rehi.operations.file_names import name_of_file
from rehi.operations.mementos import Memento, MementoPosition, find_memento, target_of
from rehi.operations.moments import parse_moment
from rehi.operations.parameters import LONGEST_URL
from rehi.operations.retention import explain_pruned
from rehi.operations.versions import find_url
from rehi.serve import timemaps, versions
from rehi.serve.harmless_markup import HarmlessMarkup, is_document_type
from rehi.serve.problem_details import BadRequest, WrongParameter
from rehi.serve.ranges import answer_with
from rehi.serve.rendering import house_of
from rehi.serve.routes import Address
from rehi.serve.webpath import RAW, SAVE, WEB, WebAddress, base_of, host_of, parse_web, web_path

ORIGINAL = "x-archive-orig-"
LONG = 2_000  # characters of a URL, from which on only the necessary links are sent
_MOST_HEADERS, _LONGEST_HEADER, _ALL_HEADERS = 60, 4_096, 16_384
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_UNSENDABLE = re.compile(r"[^\t\x20-\x7e\x80-\xff]")
_HOP = frozenset({"connection", "keep-alive", "proxy-authenticate", "te", "trailer", "upgrade", "content-length"})
# An archived script, which must never be run, not even by a page of our own that somebody has smuggled a tag into.
_RUN = frozenset(
    {"script", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet", "xslt", "manifest"}
)


Digits = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{4,20}([a-z]{2}_)?$",
        description="A moment from the year to the microsecond; with id_ behind it byte for byte, with dl_ to be saved.",
    ),
]
WebUrl = Annotated[str, Field(min_length=1, max_length=LONGEST_URL, description="A URL, as it stands.")]


async def web(request: Request) -> Response:
    """Answer everything under /web/: a URL may hold any characters, so no router takes the path apart."""
    asked = parse_web(request.scope)
    if asked is None:
        raise HTTPException(404, "say what: /web/<url>, /web/<digits>/<url> or /web/*/<url>")
    response: Response = await request.app.state.line.run(_answer, request, asked)
    return response


def _answer(request: Request, asked: WebAddress) -> Response:
    match asked.kind:
        case "memento":
            return get_memento(request, digits=asked.digits + asked.mode, url=asked.url)
        case "timegate":
            return get_timegate(request, url=asked.url)
        case "calendar":
            return get_calendar(request, url=asked.url)
        case "link":
            return timemaps.get_timemap(request, url=asked.url)
        case _:
            return timemaps.get_timemap_json(request, url=asked.url)


def get_memento(request: Request, *, digits: Digits, url: WebUrl) -> Response:
    """Return what was there; the closest moment is redirected to, and so is a spelling that is kept."""
    house = house_of(request)
    number = digits.rstrip("_abcdefghijklmnopqrstuvwxyz")
    mode = digits.removeprefix(number)
    try:
        at = parse_moment(number, end=False)
    except SettingsError as error:
        detail = f"{number} is no moment; give year, month, day, hour, minute, second"
        raise BadRequest(400, [WrongParameter(name="digits", detail=detail)]) from error
    kept = find_url(house, url)
    position = find_memento(house, kept, at, fine=len(number) > 14)
    chosen = position.chosen
    if chosen.stamp != number or kept != url:
        return _redirect(request, position, kept, f"{chosen.stamp}{mode}")
    if request.headers.get("sec-fetch-dest", "") in _RUN:
        raise HTTPException(403, "what is kept here can be looked at, but not run")
    if chosen.capture.outcome is Outcome.REDIRECT:
        return _moved(request, house, position, kept)
    return _bytes(request, house, position, mode)


def get_calendar(request: Request, *, url: WebUrl) -> Response:
    """Show the history of a URL as a page."""
    return versions.show_history(request, find_url(house_of(request), url))


def get_timegate(request: Request, *, url: WebUrl) -> Response:
    """Redirect to the capture that is closest to the header Accept-Datetime, or to the newest."""
    house, given = house_of(request), request.headers.get("accept-datetime")
    kept = find_url(house, url)
    position = find_memento(house, kept, _accepted(given) if given is not None else None)
    response = _redirect(request, position, kept, position.chosen.stamp)
    response.headers["vary"] = "accept-datetime"
    return response


def _accepted(given: str) -> datetime:
    moment = parse_http_date(given.strip())
    if moment is None:
        raise HTTPException(
            400, "Accept-Datetime must be as in Sun, 01 Mar 2026 12:00:00 GMT", headers={"vary": "accept-datetime"}
        )
    return moment


def _redirect(request: Request, position: MementoPosition, url: str, prefix: str) -> Response:
    headers = {"location": web_path(url, prefix), "link": links(request, url, position)}
    return Response(status_code=302, headers=headers)


def _moved(request: Request, house: House, position: MementoPosition, url: str) -> Response:
    """Return a redirect as it was: to where it led, at the same time."""
    target = target_of(house, position.chosen.capture)
    if not target:
        house.archive.shelf.open(position.chosen.capture.record).close()  # says whose it is, if it is not here
        raise HTTPException(404, "this was a redirect, and where it led can't be visited or isn't known any more")
    status = position.chosen.capture.status
    headers = {
        "location": web_path(target, position.chosen.stamp[:14]),
        "memento-datetime": format_http_date(position.chosen.capture.at),
        "link": links(request, url, position),
        "cache-control": "no-cache",  # what is closest there may be another one tomorrow
    }
    return Response(status_code=status if status in REDIRECTS else 302, headers=headers)


def _bytes(request: Request, house: House, position: MementoPosition, mode: str) -> Response:
    capture = position.chosen.capture
    body = capture.body
    if capture.dropped or body is None:
        version = f"{capture.url} of {capture.at:%Y-%m-%d %H:%M:%S} UTC"
        raise explain_pruned(house, capture.digest, version=version)
    headers = {
        **_original_headers(house, capture),
        "content-type": _sendable(capture.media_type) or "application/octet-stream",
        "memento-datetime": format_http_date(capture.at),
        "link": links(request, capture.url, position),
        "content-security-policy": _policy(request),
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex",
        "x-dns-prefetch-control": "off",
    }
    is_document = is_document_type(capture.media_type)
    is_changed = is_document and mode not in (RAW, SAVE)
    if mode == SAVE or (is_document and mode == RAW):  # a raw page is saved: shown, it would have a browser connect
        name = name_of_file(capture.url, capture.media_type, position.chosen.stamp)
        headers["content-disposition"] = f'attachment; filename="{name}"'
    return answer_with(
        request,
        lambda: _open(house, body, capture.media_type if is_changed else ""),
        size=capture.size,
        tag=f'"{capture.digest};shown"' if is_changed else f'"{capture.digest}"',
        headers=headers,
        status=capture.status if capture.status >= 400 else 200,
    )


def _open(house: House, body: RecordRef, media_type: str) -> BinaryIO:
    """Open a body; of a document, whose type is given then, so that no browser reaches out because of it."""
    opened = house.archive.open_body(body)
    return cast(BinaryIO, HarmlessMarkup(opened, media_type)) if media_type else opened


def _policy(request: Request) -> str:
    """Return what an archived page may do: show pictures and styles that are kept here too, and nothing else."""
    host = host_of(request)
    kept = f"{host}{WEB}" if host and "[" not in host else "'self'"
    return (
        "sandbox allow-popups allow-downloads; default-src 'none'; script-src 'none'; connect-src 'none'; "
        f"img-src {kept} data:; style-src {kept} 'unsafe-inline'; font-src {kept} data:; media-src {kept} data:; "
        f"frame-src {kept}; form-action 'none'; base-uri 'none'"
    )


def _original_headers(house: House, capture: Capture) -> dict[str, str]:
    """Return what the server said then, under names that no browser acts on; nothing if the record can't be read."""
    try:
        head = house.archive.read_headers(capture.record).http
    except ArchiveError:
        return {}
    return archived_headers(head.headers) if head else {}


def archived_headers(headers: Headers) -> dict[str, str]:
    """Return the headers of an archived answer with ``X-Archive-Orig-`` before their names, as many as a client takes."""
    kept: dict[str, str] = {}
    left = _ALL_HEADERS
    for name, value in headers:
        lowered = name.lower().removeprefix(ORIGINAL)
        text = _sendable(value[:_LONGEST_HEADER])
        left -= len(lowered) + len(text)
        if len(kept) == _MOST_HEADERS or left < 0:
            break
        if lowered not in _HOP and _TOKEN.fullmatch(lowered):
            key = f"{ORIGINAL}{lowered}"
            kept[key] = f"{kept[key]}, {text}" if key in kept else text
    return kept


def _sendable(value: str) -> str:
    return _UNSENDABLE.sub("", value).strip()


def links(request: Request, url: str, position: MementoPosition | None) -> str:
    """Return the Link header: the original, where to ask for other times, and the neighbours."""
    base = base_of(request)
    parts = [
        f'<{timemaps.reference(url)}>; rel="original"',
        f'<{base}{web_path(url)}>; rel="timegate"',
        f'<{base}{web_path(url, "timemap/link")}>; rel="timemap"; type="application/link-format"',
    ]
    if position is not None and len(url) <= LONG:
        parts += _neighbours(base, url, position)
    return ", ".join(parts)


def _neighbours(base: str, url: str, position: MementoPosition) -> list[str]:
    roles: dict[Memento, list[str]] = {}
    for memento, role in (
        (position.first, "first"),
        (position.previous, "prev"),
        (position.chosen, ""),
        (position.following, "next"),
        (position.last, "last"),
    ):
        if memento is not None:
            roles.setdefault(memento, []).append(role)
    return [
        f'<{base}{web_path(url, memento.stamp)}>; rel="{" ".join([*filter(None, relations), "memento"])}"; '
        f'datetime="{format_http_date(memento.capture.at)}"'
        for memento, relations in sorted(roles.items(), key=lambda pair: pair[0].capture.at)
    ]


class WebRoute(Route):
    """Everything under /web/, whatever characters follow."""

    def __init__(self) -> None:
        super().__init__(WEB, Address({"GET": web}))
        self.path_regex = re.compile(re.escape(WEB))
