"""The archive, for people and programs: what it holds, by type and host, and what was saved."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rehi.desk.contents import SHOWN, look_up, to_numbers
from rehi.desk.retaining import keep_of
from rehi.serve import api
from rehi.serve.bars import PARTS, draw_bars
from rehi.serve.pages import render


def archive_page(request: Request) -> Response:
    """The archive in numbers and pictures."""
    house = api.house_of(request)
    found = look_up(house, limit=SHOWN)
    values = {
        "found": found,
        "held": found.holdings,
        "types": draw_bars(found.holdings.by_type),
        "hosts": draw_bars(found.holdings.by_host),
        "parts": PARTS,
        "rules": [(source, keep_of(source)) for source in house.catalogue.sources() if source.keep],
    }
    return render(request, "archive.html", values)


def archive(request: Request) -> Response:
    """What the archive holds; ``limit`` types and hosts."""
    limit = api.page_of(request, default=SHOWN).limit
    return api.json_answer(to_numbers(look_up(api.house_of(request), limit=limit)))


routes = [
    Route("/archive", archive_page),
    Route("/api/archive", archive),
]
