"""The page of updates: the table, its picture, and the button."""

from __future__ import annotations

from datetime import datetime, timedelta

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rehi.app import utc_now
from rehi.model.listing import Page
from rehi.model.update import COUNTS, Update
from rehi.operations.operation import read_signature
from rehi.operations.updates import list_updates, next_scheduled, start_update
from rehi.serve.rendering import house_of, render
from rehi.serve.request_parameters import check_fields, read_fields
from rehi.serve.updates_chart import PARTS, draw_columns

PICTURED = 40  # updates in the picture, the newest of those on the page


def show_updates(request: Request, limit: int, offset: int) -> Response:
    """Show the running update with its numbers, the picture, and the table."""
    house, now = house_of(request), utc_now()
    listed = list_updates(house, limit=limit, offset=offset)
    values = {
        "rows": [(row, _took(row, now)) for row in listed.updates],
        "total": listed.total,
        "page": Page(limit=limit, offset=offset),
        "running": listed.running,
        "scheduled": next_scheduled(house, since=now),
        "columns": draw_columns(listed.updates[:PICTURED]),
        "parts": PARTS,
        "counts": COUNTS,
    }
    return render(request, "updates.html", values)


def _took(row: Update, now: datetime) -> str:
    return str(timedelta(seconds=round(((row.ended_at or now) - row.started_at).total_seconds())))


async def update_form(request: Request) -> Response:
    """Take the buttons that start an update of everything, or of one source, host or page."""
    parameters = check_fields(await read_fields(request), read_signature(start_update), of_form=True)
    await run_in_threadpool(start_update, house_of(request), **parameters)
    return RedirectResponse("/updates", status_code=303)
