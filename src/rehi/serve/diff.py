"""What is different between two versions, for people and programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import TypeVar
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rehi.app import House
from rehi.desk.comparing import MOST, compare, compare_names_only
from rehi.desk.comparison import Comparison, Tally
from rehi.desk.recalling import history
from rehi.errors import ReadError
from rehi.model.version import Version
from rehi.serve import api
from rehi.serve.pages import render

SHOWN = 500  # lines, rows or values on the page
COLUMNS = 12  # of a row on the page
OFFERED = 500  # versions to choose from
_YES = {"1", "yes", "true", "on"}

T = TypeVar("T")

turns = BoundedSemaphore(8)  # comparisons that are under way or wait, of some 40 threads that there are for all pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A part of the picture, in percent of its width."""

    part: str
    x: float
    width: float
    count: int


def draw_bar(tally: Tally) -> list[Bar]:
    """What is different, side by side; nothing that is there is too thin to be seen."""
    parts = [("added", tally.added), ("changed", tally.changed), ("removed", tally.removed)]
    there = [(part, count) for part, count in parts if count]
    least = 2.0
    bars, x = [], 0.0
    for part, count in there:
        width = least + (100.0 - least * len(there)) * count / tally.different
        bars.append(Bar(part=part, x=round(x, 2), width=round(width, 2), count=count))
        x += width
    return bars


def diff_page(request: Request) -> Response:
    """The difference, with a form to choose other versions."""
    get = request.query_params.get
    url = get("url", "").strip()
    if not url:
        return render(request, "diff.html", {"url": "", "found": None})
    house = api.house_of(request)
    found = _compare(request, house, url, most=SHOWN)
    versions = history(house, url)
    asked = {"url": url, "from": get("from", ""), "to": get("to", "")}
    values = {
        "url": url,
        "found": found,
        "versions": _offered(versions, found),
        "more_versions": max(0, len(versions) - OFFERED),
        "bars": draw_bar(found.tally) if found.tally else [],
        "key": get("key", ""),
        "blame_asked": found.blame is not None,
        "names_at": "/diff/names?" + urlencode(asked),
        "api_at": "/api/diff?" + urlencode(asked | {"key": get("key", "")}),
        "column_limit": COLUMNS,
    }
    return render(request, "diff.html", values)


def _offered(versions: list[Version], found: Comparison) -> list[Version]:
    """The newest versions, and the two that are compared, the newest first."""
    chosen = {found.old.number, found.new.number}
    newest = {version.number for version in versions[-OFFERED:]}
    return [version for version in reversed(versions) if version.number in chosen | newest]


def names_page(request: Request) -> Response:
    """The names that appeared or vanished; the page of the difference fetches it, since it takes a moment."""
    get = request.query_params.get
    house, url = api.house_of(request), _url(request)
    names, notes = _guarded(lambda: compare_names_only(house, url, get("from", ""), get("to", "")))
    return render(request, "diff_names.html", {"url": url, "names": names, "notes": notes})


def difference(request: Request) -> Response:
    """The difference as JSON; ``names=yes`` and ``blame=yes`` add these, ``limit`` says how much of it."""
    try:
        most = int(request.query_params.get("limit", MOST))
    except ValueError as error:
        raise HTTPException(400, "limit is a whole number") from error
    if not 0 < most <= MOST:
        raise HTTPException(400, f"limit is 1 to {MOST}")
    found = _compare(request, api.house_of(request), _url(request), most=most)
    return api.json_answer(found)


def _compare(request: Request, house: House, url: str, *, most: int) -> Comparison:
    get = request.query_params.get
    key = [name.strip() for name in get("key", "").split(",") if name.strip()]
    return _guarded(
        lambda: compare(
            house,
            url,
            get("from", ""),
            get("to", ""),
            key=key,
            names=get("names", "") in _YES,
            blame=get("blame", "") in _YES,
            most=most,
        )
    )


def _guarded(work: Callable[[], T]) -> T:
    """What takes too long or too much is given up, and no more wait than leave the other pages their threads."""
    if not turns.acquire(blocking=False):
        raise HTTPException(503, "many comparisons are under way; ask again in a moment", {"Retry-After": "5"})
    try:
        return work()
    except ReadError as error:
        raise HTTPException(503, f"the comparison was given up: {error}") from error
    finally:
        turns.release()


def _url(request: Request) -> str:
    url = request.query_params.get("url", "").strip()
    if not url:
        raise HTTPException(400, f"say which: {request.url.path}?url=…")
    return url


routes = [
    Route("/diff", diff_page),
    Route("/diff/names", names_page),
    Route("/api/diff", difference),
]
