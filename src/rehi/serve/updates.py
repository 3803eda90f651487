"""Updates, for people and programs: the table, its picture, and the button."""

from __future__ import annotations

from datetime import datetime, timedelta

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from rehi.app import utc_now
from rehi.desk.updating import next_scheduled
from rehi.model.update import COUNTS, Update
from rehi.serve import api
from rehi.serve.bodies import NewUpdate, parse, read_form, read_json
from rehi.serve.pages import ROWS, render
from rehi.serve.picture import PARTS, draw_columns

PICTURED = 40  # updates in the picture, the newest of those on the page


def list_page(request: Request) -> Response:
    """The running update with its numbers, the picture, and the table."""
    house, page, now = api.house_of(request), api.page_of(request, default=ROWS), utc_now()
    rows, total = house.catalogue.updates(page)
    values = {
        "rows": [(row, _took(row, now)) for row in rows],
        "total": total,
        "page": page,
        "running": house.catalogue.open_update(),
        "scheduled": next_scheduled(house, since=now),
        "columns": draw_columns(rows[:PICTURED]),
        "parts": PARTS,
        "counts": COUNTS,
    }
    return render(request, "updates.html", values)


def _took(row: Update, now: datetime) -> str:
    return str(timedelta(seconds=round(((row.ended_at or now) - row.started_at).total_seconds())))


async def order_form(request: Request) -> Response:
    """The buttons: everything, or one source, host or page."""
    fields = {what: text for what, text in (await read_form(request)).items() if text.strip()}
    await run_in_threadpool(_order, request, parse(NewUpdate, fields))
    return RedirectResponse("/updates", status_code=303)


def updates(request: Request) -> Response:
    """A page of updates, and the one that runs."""
    catalogue = api.house_of(request).catalogue
    rows, total = catalogue.updates(api.page_of(request))
    return api.json_answer({"total": total, "running": catalogue.open_update(), "updates": rows})


async def order(request: Request) -> Response:
    """Have everything visited now, or one ``{"source": 3}``, ``{"host": "…"}`` or ``{"url": "…"}``."""
    row = await run_in_threadpool(_order, request, await read_json(request, NewUpdate))
    return api.json_answer(row, status=202)


def _order(request: Request, given: NewUpdate) -> Update:
    if sum(map(bool, (given.source, given.host, given.url))) > 1:
        raise HTTPException(422, "give one of source, host and url")
    row: Update = request.app.state.service.update(source_id=given.source, host=given.host, url=given.url)
    return row


routes = [
    Route("/updates", list_page, methods=["GET"]),
    Route("/updates", order_form, methods=["POST"]),
    Route("/api/updates", updates, methods=["GET"]),
    Route("/api/updates", order, methods=["POST"]),
]
