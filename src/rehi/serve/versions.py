"""The page of a URL's versions: a picture of the history, the list, and the ways to open, save and compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response

from rehi.errors import NotFound
from rehi.model.listing import Page
from rehi.model.version import Version
from rehi.operations.mementos import Memento, mementos
from rehi.operations.moments import digits_of
from rehi.operations.parameters import ROWS
from rehi.operations.versions import VersionRow, find_url, history, list_rows
from rehi.serve.history_chart import DAYS, MONTHS, NAMES, PARTS, draw_years
from rehi.serve.rendering import house_of, render
from rehi.serve.webpath import SAVE, web_path


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownVersion:
    """A version with where to find it, and the number of the one before it."""

    row: VersionRow
    path: str
    save: str
    before: int | None


def show_versions(request: Request, url: str, limit: int, offset: int) -> Response:
    """Show the history of a URL by parameters, of which two say which part of the list to show."""
    return show_history(request, find_url(house_of(request), url), Page(limit=limit, offset=offset))


def show_history(request: Request, url: str, page: Page | None = None) -> Response:
    """Show the history of a URL, the newest version first."""
    house, page = house_of(request), page or Page(limit=ROWS)
    versions = _versions(request, url)[::-1]
    part = versions[page.offset : page.offset + page.limit]
    stamps = {version.taken_at: "" for version in part}
    years = draw_years(_note_stamps(mementos(house, url), stamps))
    values = {
        "url": url,
        "resource_id": house.catalogue.document(url).resource_id,
        "total": len(versions),
        "page": page,
        "rows": _shown(request, url, part, versions[page.offset + 1 :], stamps),
        "years": years,
        "parts": PARTS,
        "days": DAYS,
        "months": list(zip(NAMES, MONTHS, strict=True)),
        "paths": {prefix: web_path(url, prefix) for prefix in ("timemap/link", "timemap/json")},
    }
    return render(request, "versions.html", values)


def _versions(request: Request, url: str) -> list[Version]:
    """Return the versions in the order of time; none for what has only ever redirected."""
    try:
        return history(house_of(request), url)
    except NotFound:
        return []


def _note_stamps(passing: Iterable[Memento], stamps: dict[datetime, str]) -> Iterator[Memento]:
    """Yield mementos as they pass, and write down the digits of those that are to be shown."""
    for memento in passing:
        if memento.capture.at in stamps:
            stamps[memento.capture.at] = memento.stamp
        yield memento


def _shown(
    request: Request, url: str, part: Sequence[Version], older: Sequence[Version], stamps: dict[datetime, str]
) -> list[ShownVersion]:
    shown = []
    for place, row in enumerate(list_rows(house_of(request), part)):
        stamp = stamps[row.taken_at] or digits_of(row.taken_at)
        before = older[place].number if place < len(older) else None
        path, save = web_path(url, stamp), web_path(url, stamp + SAVE)
        shown.append(ShownVersion(row=row, path=path, save=save, before=before))
    return shown
