"""The pages, for people."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from rehi import __version__
from rehi.app import House, utc_now
from rehi.builtin import table
from rehi.desk.retaining import keep_of, order_keep
from rehi.desk.revisiting import PRIORITIES, order_policy, priority_of
from rehi.desk.troubles import explain_nothing, list_troubles
from rehi.errors import NotFound, QueryError
from rehi.graph import media_type_for
from rehi.model.listing import DocumentFilter
from rehi.model.problem import Stage
from rehi.serve import api
from rehi.serve.bodies import NewKeep, NewPolicy, parse, read_form
from rehi.serve.examples import EXAMPLES
from rehi.serve.gate import COOKIE
from rehi.serve.marking import mark_names
from rehi.serve.uploads import receive
from rehi.serve.webpath import web_path

ROWS = 50
TEXT_SHOWN = 50_000  # characters of a document's text
ANSWER_SHOWN = 1_000  # rows of a query's answer


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=select_autoescape(default=True)
    )
    environment.filters["number"] = lambda value: f"{value:,}".replace(",", " ")
    environment.filters["bytes"] = _bytes
    environment.globals.update(
        version=__version__, stages=list(Stage), kinds=list(table("entity_kind")), web_path=web_path
    )
    return environment


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def render(request: Request, template: str, values: Mapping[str, Any], *, status: int = 200) -> Response:
    """A page from its template; everything in it is escaped."""
    gate = request.app.state.gate
    common = {"path": request.url.path, "query": request.query_params, "may_change": gate.may_change(request)}
    html = _environment().get_template(template).render(**common, **values)
    return HTMLResponse(html, status_code=status)


def overview(request: Request) -> Response:
    """What there is, what is going on, and the sources."""
    catalogue = api.house_of(request).catalogue
    values = {
        "totals": catalogue.totals(now=utc_now()),
        "sources": catalogue.sources(),
        "status": request.app.state.service.status,
    }
    return render(request, "overview.html", values)


async def upload(request: Request) -> Response:
    """The upload form: the source's page next, or the sentence that says why not."""
    source, start = await receive(request, api.house_of(request))
    if start:
        await run_in_threadpool(request.app.state.service.start_source, source.id)
    return RedirectResponse(f"/sources/{source.id}", status_code=303)


def start(request: Request) -> Response:
    """The start button."""
    source_id = api.number(request.path_params["id"], "source")
    request.app.state.service.start_source(source_id)
    return RedirectResponse(f"/sources/{source_id}", status_code=303)


async def set_policy(request: Request) -> Response:
    """The form for a source's policy and priority."""
    given = parse(NewPolicy, await read_form(request))
    source_id = api.number(request.path_params["id"], "source")
    await run_in_threadpool(
        order_policy, api.house_of(request), source_id, policy=given.policy, priority=given.priority
    )
    return RedirectResponse(f"/sources/{source_id}", status_code=303)


async def set_keep(request: Request) -> Response:
    """The form for what is kept of a source's pages."""
    given = parse(NewKeep, await read_form(request))
    source_id = api.number(request.path_params["id"], "source")
    await run_in_threadpool(order_keep, api.house_of(request), source_id, given.keep)
    return RedirectResponse(f"/sources/{source_id}", status_code=303)


def source(request: Request) -> Response:
    """One source with its statistics."""
    row = api.house_of(request).catalogue.source(api.number(request.path_params["id"], "source"))
    rejected = {what.partition(":")[2]: int(n) for what, n in row.counts.items() if what.startswith("rejected:")}
    seconds = {what.partition(":")[2]: n for what, n in row.counts.items() if what.startswith("seconds:")}
    values = {
        "source": row,
        "rejected": _ranked(rejected),
        "seconds": _ranked(seconds),
        "priority": priority_of(row),
        "keep": keep_of(row),
        "priorities": list(PRIORITIES),
        "default_policy": api.house_of(request).settings.revisit.policy,
    }
    return render(request, "source.html", values)


def _ranked(counts: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def documents(request: Request) -> Response:
    """A list of documents that can be narrowed down."""
    house, page = api.house_of(request), api.page_of(request, default=ROWS)
    rows, total = house.catalogue.documents(api.filter_of(request), page)
    totals = house.catalogue.totals(now=utc_now())
    values = {
        "rows": rows,
        "total": total,
        "page": page,
        "types": _ranked(totals.media_types),
        "languages": _ranked(totals.languages),
    }
    return render(request, "documents.html", values)


def document(request: Request) -> Response:
    """One document: its versions, its names, and its text with the names marked."""
    house, resource_id = api.house_of(request), api.number(request.path_params["id"], "document")
    row = house.catalogue.document(resource_id)
    try:
        reading = house.reading(resource_id)
        text = mark_names(reading.document.text[:TEXT_SHOWN], reading.mentions)
        cut = len(reading.document.text) > TEXT_SHOWN
    except NotFound:
        text, cut = [], False
    values = {
        "row": row,
        "versions": house.catalogue.versions(row.url) if row.versions else (),
        "names": house.catalogue.names_on(resource_id),
        "text": text,
        "cut": cut,
    }
    return render(request, "document.html", values)


def names(request: Request) -> Response:
    """People, organisations and places by the beginning of a name."""
    wanted, page = request.query_params.get("name", ""), api.page_of(request, default=ROWS)
    rows = api.house_of(request).catalogue.find_entities(wanted, page)
    return render(request, "names.html", {"rows": rows, "wanted": wanted, "page": page})


def entity(request: Request) -> Response:
    """One entity and where it is mentioned."""
    catalogue = api.house_of(request).catalogue
    found = catalogue.entity(api.key_of(request.path_params["kind"], request.path_params["slug"]))
    page = api.page_of(request, default=ROWS)
    rows, total = catalogue.documents(DocumentFilter(entity=found.key), page)
    return render(request, "entity.html", {"entity": found, "rows": rows, "total": total, "page": page})


def problems(request: Request) -> Response:
    """What went wrong, by room and class."""
    page, code = api.page_of(request, default=ROWS), request.query_params.get("code", "")
    found = list_troubles(api.house_of(request), stage=api.stage_of(request), code=code, page=page)
    values = {"found": found, "page": page, "nothing": explain_nothing(found, code)}
    return render(request, "problems.html", values)


def sparql_page(request: Request, query: str = "") -> Response:
    """The query page, with the answer if there is a query."""
    values: dict[str, Any] = {"text": query or EXAMPLES[0][1], "examples": EXAMPLES, "answer": None, "error": ""}
    if query:
        try:
            values["answer"] = _answer(api.house_of(request), query)
        except QueryError as error:
            values["error"] = str(error)
    return render(request, "sparql.html", values, status=400 if values["error"] else 200)


def _answer(house: House, query: str) -> dict[str, Any]:
    answer = house.query(query, media_type=media_type_for("table", query))
    body = b"".join(answer.chunks)
    shown: dict[str, Any] = {"milliseconds": answer.seconds * 1000}
    if answer.media_type != "application/sparql-results+json":
        return shown | {"text": body.decode()}
    result = orjson.loads(body)
    if "boolean" in result:
        return shown | {"text": "yes" if result["boolean"] else "no"}
    rows = result["results"]["bindings"]
    return shown | {"columns": result["head"]["vars"], "rows": rows[:ANSWER_SHOWN], "total": len(rows)}


def login_page(request: Request) -> Response:
    """Where the token is given."""
    return render(request, "login.html", {"wrong": False})


async def login(request: Request) -> Response:
    """Keep the token in a cookie that only this site is sent."""
    given = (await read_form(request)).get("token", "")
    if not request.app.state.gate.matches(given):
        return render(request, "login.html", {"wrong": True}, status=401)
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(COOKIE, given, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response


def by_address(request: Request) -> Response:
    """The document of a URL."""
    url = request.query_params.get("url", "")
    if not url:
        raise HTTPException(400, "say which: /document?url=…")
    return RedirectResponse(f"/documents/{api.house_of(request).catalogue.resource_id(url)}")


routes = [
    Route("/", overview),
    Route("/sources", upload, methods=["POST"]),
    Route("/sources/{id}", source),
    Route("/sources/{id}/start", start, methods=["POST"]),
    Route("/sources/{id}/policy", set_policy, methods=["POST"]),
    Route("/sources/{id}/keep", set_keep, methods=["POST"]),
    Route("/documents", documents),
    Route("/documents/{id}", document),
    Route("/document", by_address),
    Route("/names", names),
    Route("/entity/{kind}/{slug:path}", entity),
    Route("/problems", problems),
    Route("/login", login_page, methods=["GET"]),
    Route("/login", login, methods=["POST"]),
]
