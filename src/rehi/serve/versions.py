"""Versions, for people and programs: a picture of the history, the list, and the ways to open, save and compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rehi.desk.mementos import Memento, find_url, mementos
from rehi.desk.moments import digits_of
from rehi.desk.recalling import VersionRow, history, list_rows
from rehi.errors import NotFound
from rehi.model.listing import Page
from rehi.model.version import Version
from rehi.serve import api
from rehi.serve.pages import ROWS, render
from rehi.serve.timeline import DAYS, MONTHS, NAMES, PARTS, draw_years
from rehi.serve.webpath import SAVE, web_path


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownVersion:
    """A version with where to find it, and the number of the one before it."""

    row: VersionRow
    path: str
    save: str
    before: int | None


def show(request: Request, url: str, page: Page | None = None) -> Response:
    """The history of a URL; its versions are the newest first."""
    house, page = api.house_of(request), page or Page(limit=ROWS)
    versions = _known(request, url)[::-1]
    part = versions[page.offset : page.offset + page.limit]
    stamps = {version.taken_at: "" for version in part}
    years = draw_years(_noting(mementos(house, url), stamps))
    values = {
        "url": url,
        "resource_id": house.catalogue.resource_id(url),
        "total": len(versions),
        "page": page,
        "rows": _shown(request, url, part, versions[page.offset + 1 :], stamps),
        "years": years,
        "parts": PARTS,
        "days": DAYS,
        "months": list(zip(NAMES, MONTHS, strict=True)),
        "paths": {what: web_path(url, what) for what in ("timemap/link", "timemap/json")},
    }
    return render(request, "versions.html", values)


def versions_page(request: Request) -> Response:
    """The same by parameters, of which one says which part of the list to show."""
    return show(request, _asked(request), api.page_of(request, default=ROWS))


def versions(request: Request) -> Response:
    """A page of a URL's versions, the newest first."""
    house, url, page = api.house_of(request), _asked(request), api.page_of(request)
    found = history(house, url)
    found.reverse()
    part = found[page.offset : page.offset + page.limit]
    return api.json_answer({"url": url, "total": len(found), "versions": list(list_rows(house, part))})


def _asked(request: Request) -> str:
    given = request.query_params.get("url", "")
    if not given:
        raise HTTPException(400, "say of what: ?url=…")
    return find_url(api.house_of(request), given)


def _known(request: Request, url: str) -> list[Version]:
    """The versions in the order of time; none for what has only ever redirected."""
    try:
        return history(api.house_of(request), url)
    except NotFound:
        return []


def _noting(found: Iterable[Memento], stamps: dict[datetime, str]) -> Iterator[Memento]:
    """Mementos as they pass, and the digits of those that are to be shown."""
    for memento in found:
        if memento.capture.at in stamps:
            stamps[memento.capture.at] = memento.stamp
        yield memento


def _shown(
    request: Request, url: str, part: Sequence[Version], older: Sequence[Version], stamps: dict[datetime, str]
) -> list[ShownVersion]:
    shown = []
    for place, row in enumerate(list_rows(api.house_of(request), part)):
        stamp = stamps[row.taken_at] or digits_of(row.taken_at)
        before = older[place].number if place < len(older) else None
        path, save = web_path(url, stamp), web_path(url, stamp + SAVE)
        shown.append(ShownVersion(row=row, path=path, save=save, before=before))
    return shown


routes = [Route("/versions", versions_page), Route("/api/versions", versions)]
