"""The pages of hosts: how they fare, and what is ordered for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rehi.frontier import host_name
from rehi.model.host import HostRow, HostState
from rehi.model.listing import Page
from rehi.operations.hosts import explain_wait, report_hosts, set_orders
from rehi.operations.operation import read_signature
from rehi.operations.parameters import HostName
from rehi.serve.rendering import house_of, render
from rehi.serve.request_parameters import check_fields, read_fields

PICTURED = 1_000  # hosts that the picture counts; those in trouble come first
_TEXTS = ("hours", "why")  # orders that an empty field takes back as it is; the others are numbers


def show_hosts(request: Request, like: str, limit: int, offset: int) -> Response:
    """Show all hosts, those in trouble first."""
    catalogue, page = house_of(request).catalogue, Page(limit=limit, offset=offset)
    pictured, total = catalogue.hosts(like, Page(limit=PICTURED))
    last = offset + limit
    rows = pictured[offset:last] if last <= PICTURED else catalogue.hosts(like, page)[0]
    values = {
        "rows": [(row, host_name(row.origin), explain_wait(row)) for row in rows],
        "total": total,
        "page": page,
        "like": like,
        "fare": _count_states(pictured),
        "pictured": len(pictured),
    }
    return render(request, "hosts.html", values)


def _count_states(rows: Iterable[HostRow]) -> list[tuple[str, int]]:
    """Return how many hosts fare how, the most frequent first."""
    return Counter(map(_word, rows)).most_common()


def _word(row: HostRow) -> str:
    if row.state is HostState.LEFT_ALONE:
        return "left alone"
    if row.failures:
        return "failing"
    if row.strain > 1:
        return "overloaded"
    return "waiting for a reason" if row.state is HostState.WAITING and row.why else "well"


def show_host(request: Request, name: str) -> Response:
    """Show all that is known of one host, with the forms that order something for it."""
    return render(request, "host.html", {"name": name, "reports": report_hosts(house_of(request), name)})


async def order_form(request: Request, *, name: HostName) -> Response:
    """Take the forms of a host's page, for the switch or the pace; an empty field takes an order back."""
    pairs = await read_fields(request)
    fields = [(field, text.strip() or ("" if field in _TEXTS else "0")) for field, text in pairs]
    orders = check_fields(fields, read_signature(set_orders))
    await run_in_threadpool(_order, request, name, orders)
    return RedirectResponse(f"/hosts/{quote(name, safe='')}", status_code=303)


def _order(request: Request, name: str, orders: dict[str, Any]) -> None:
    house, host_id = house_of(request), orders["host_id"]
    if all(report.facts.row.host_id != host_id for report in report_hosts(house, name)):
        raise HTTPException(404, f"{name} has no origin with the number {host_id}")
    set_orders(house, **orders)
