"""Hosts, for people and programs: how they fare, and what is ordered for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from rehi.app import House
from rehi.desk.hosting import explain_wait, order_host, report_hosts
from rehi.frontier import host_name
from rehi.model.host import NO_ORDERS, HostOrders, HostRow, HostState
from rehi.model.listing import Page
from rehi.serve import api
from rehi.serve.bodies import NewOrders, parse, read_form, read_json
from rehi.serve.pages import ROWS, render

PICTURED = 1_000  # hosts that the picture counts; those in trouble come first
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


def list_page(request: Request) -> Response:
    """All hosts, those in trouble first."""
    page, like = api.page_of(request, default=ROWS), request.query_params.get("like", "")
    catalogue = api.house_of(request).catalogue
    pictured, total = catalogue.hosts(like, Page(limit=PICTURED))
    last = page.offset + page.limit
    rows = pictured[page.offset : last] if last <= PICTURED else catalogue.hosts(like, page)[0]
    values = {
        "rows": [(row, host_name(row.origin), explain_wait(row)) for row in rows],
        "total": total,
        "page": page,
        "like": like,
        "fare": _fare(pictured),
        "pictured": len(pictured),
    }
    return render(request, "hosts.html", values)


def _fare(rows: Iterable[HostRow]) -> list[tuple[str, int]]:
    """How many hosts fare how, the most frequent first."""
    return Counter(map(_word, rows)).most_common()


def _word(row: HostRow) -> str:
    if row.state is HostState.LEFT_ALONE:
        return "left alone"
    if row.failures:
        return "failing"
    if row.strain > 1:
        return "overloaded"
    return "waiting for a reason" if row.state is HostState.WAITING and row.why else "well"


def host_page(request: Request) -> Response:
    """All that is known of one host, with the forms that order something for it."""
    name = request.path_params["name"]
    reports = report_hosts(api.house_of(request), name)
    return render(request, "host.html", {"name": name, "reports": reports})


async def order_form(request: Request) -> Response:
    """The forms of a host's page: the switch, or the pace; an empty field takes an order back."""
    name, fields = request.path_params["name"], await read_form(request)
    host_id = api.number(fields.pop("host_id", ""), "host")
    given: dict[str, Any] = {
        what: (text.strip() or ("" if what in ("hours", "why") else "0")) for what, text in fields.items()
    }
    await run_in_threadpool(_order, api.house_of(request), name, host_id, parse(NewOrders, given))
    return RedirectResponse(f"/hosts/{quote(name, safe='')}", status_code=303)


def _order(house: House, name: str, host_id: int, given: NewOrders) -> None:
    facts = next((r.facts for r in report_hosts(house, name) if r.facts.row.host_id == host_id), None)
    if facts is None:
        raise HTTPException(404, f"{name} has no origin with the number {host_id}")
    order_host(house, host_id, facts.orders, **given.model_dump())


def hosts(request: Request) -> Response:
    """A page of hosts."""
    rows, total = api.house_of(request).catalogue.hosts(request.query_params.get("like", ""), api.page_of(request))
    return api.json_answer({"total": total, "hosts": rows})


def host(request: Request) -> Response:
    """All that is known of one host, by origin."""
    return api.json_answer(report_hosts(api.house_of(request), request.path_params["name"]))


async def order(request: Request) -> Response:
    """Order something for one origin; what is left out stays as it is, 0 or "" takes an order back."""
    given = await read_json(request, NewOrders)
    host_id = api.number(request.path_params["id"], "host")
    return api.json_answer(await run_in_threadpool(_order_by_number, api.house_of(request), host_id, given))


def _order_by_number(house: House, host_id: int, given: NewOrders) -> HostOrders:
    orders = house.catalogue.orders(since=_EVER).get(host_id, NO_ORDERS)
    return order_host(house, host_id, orders, **given.model_dump())


routes = [
    Route("/hosts", list_page),
    Route("/hosts/{name}", host_page),
    Route("/hosts/{name}/orders", order_form, methods=["POST"]),
    Route("/api/hosts", hosts),
    Route("/api/hosts/{name}", host),
    Route("/api/hosts/{id}/orders", order, methods=["POST"]),
]
