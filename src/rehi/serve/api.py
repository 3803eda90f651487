"""REST: what the pages show, for programs."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rehi.app import House, utc_now
from rehi.builtin import table
from rehi.desk.adding import enter
from rehi.desk.retaining import order_keep
from rehi.desk.revisiting import order_policy
from rehi.desk.troubles import list_troubles
from rehi.model.entity import EntityKey
from rehi.model.listing import DocumentFilter, Page
from rehi.model.plain import to_plain
from rehi.model.problem import Stage
from rehi.serve.bodies import NewKeep, NewPolicy, NewSource, read_json
from rehi.serve.uploads import receive

MAX_ROWS = 1000


def page_of(request: Request, *, default: int = 50) -> Page:
    """The part of a list that was asked for."""
    try:
        limit = int(request.query_params.get("limit", default))
        offset = int(request.query_params.get("offset", 0))
    except ValueError as error:
        raise HTTPException(400, "limit and offset are whole numbers") from error
    if not (0 < limit <= MAX_ROWS and offset >= 0):
        raise HTTPException(400, f"limit is 1 to {MAX_ROWS}, offset 0 or more")
    return Page(limit=limit, offset=offset)


def filter_of(request: Request) -> DocumentFilter:
    """The documents that were asked for."""
    get = request.query_params.get
    entity = get("entity", "")
    return DocumentFilter(
        host=get("host", ""),
        media_type=get("type", ""),
        language=get("language", ""),
        text=get("q", ""),
        source_id=number(get("source", ""), "source") if get("source") else None,
        entity=key_of(*entity.split("/", 1)) if "/" in entity else None,
    )


def key_of(kind: str, slug: str) -> EntityKey:
    """An entity's key from its path."""
    if kind not in table("entity_kind"):
        raise HTTPException(404, f"there is no kind {kind!r}; there are {', '.join(table('entity_kind'))}")
    return EntityKey(kind, slug)


def number(text: str, what: str) -> int:
    """A whole number from a path or a parameter."""
    if not text.isdecimal() or len(text) > 18:
        raise HTTPException(404, f"{what} {text!r} is not a number")
    return int(text)


def stage_of(request: Request) -> Stage | None:
    """The room whose problems were asked for."""
    stage = request.query_params.get("stage", "")
    if stage and stage not in set(Stage):
        raise HTTPException(400, f"there is no stage {stage!r}; there are {', '.join(Stage)}")
    return Stage(stage) if stage else None


def json_answer(value: object, *, status: int = 200) -> JSONResponse:
    """A value as JSON."""
    return JSONResponse(to_plain(value), status_code=status)


def house_of(request: Request) -> House:
    """The house whose doors these are."""
    house: House = request.app.state.house
    return house


def status(request: Request) -> Response:
    """What is being done now, and the totals."""
    totals = house_of(request).catalogue.totals(now=utc_now())
    return json_answer({"service": request.app.state.service.status, "totals": totals})


def sources(request: Request) -> Response:
    """All sources with their statistics."""
    return json_answer(house_of(request).catalogue.sources())


def source(request: Request) -> Response:
    """One source with its statistics."""
    return json_answer(house_of(request).catalogue.source(number(request.path_params["id"], "source")))


async def add_source(request: Request) -> Response:
    """Add a source: a file as multipart field ``file``, or JSON ``{"source": "https://…"}``; ``start`` begins at once."""
    house = house_of(request)
    if request.headers.get("content-type", "").startswith("application/json"):
        given = await read_json(request, NewSource)
        if not given.source.startswith(("http://", "https://")):
            raise HTTPException(400, 'send {"source": "https://…"}')
        entered, start = await run_in_threadpool(enter, house, given.source), given.start
    else:
        entered, start = await receive(request, house)
    if start:
        await run_in_threadpool(request.app.state.service.start_source, entered.id)
    return json_answer(await run_in_threadpool(house.catalogue.source, entered.id), status=201)


def start_source(request: Request) -> Response:
    """Have a waiting source taken in and harvested."""
    source_id = number(request.path_params["id"], "source")
    request.app.state.service.start_source(source_id)
    return json_answer(house_of(request).catalogue.source(source_id), status=202)


async def set_policy(request: Request) -> Response:
    """Say when a source's pages are visited again, and how much they matter: ``{"policy": "…", "priority": "high"}``."""
    given = await read_json(request, NewPolicy)
    source_id = number(request.path_params["id"], "source")
    changed = await run_in_threadpool(
        order_policy, house_of(request), source_id, policy=given.policy, priority=given.priority
    )
    return json_answer(changed)


async def set_keep(request: Request) -> Response:
    """Say which versions of a source's pages are kept: ``{"keep": "last 5"}``."""
    given = await read_json(request, NewKeep)
    source_id = number(request.path_params["id"], "source")
    return json_answer(await run_in_threadpool(order_keep, house_of(request), source_id, given.keep))


def documents(request: Request) -> Response:
    """A page of documents."""
    rows, total = house_of(request).catalogue.documents(filter_of(request), page_of(request))
    return json_answer({"total": total, "documents": rows})


def document(request: Request) -> Response:
    """One document with its names and versions."""
    house, resource_id = house_of(request), number(request.path_params["id"], "document")
    row = house.catalogue.document(resource_id)
    versions = house.catalogue.versions(row.url) if row.versions else []
    return json_answer({"document": row, "names": house.catalogue.names_on(resource_id), "versions": versions})


def reading(request: Request) -> Response:
    """A document's text, and its names with their places in it."""
    return json_answer(house_of(request).reading(number(request.path_params["id"], "document")))


def entities(request: Request) -> Response:
    """Entities of which a name begins so."""
    return json_answer(
        house_of(request).catalogue.find_entities(request.query_params.get("name", ""), page_of(request))
    )


def entity(request: Request) -> Response:
    """One entity."""
    return json_answer(
        house_of(request).catalogue.entity(key_of(request.path_params["kind"], request.path_params["slug"]))
    )


def problems(request: Request) -> Response:
    """A page of problems, and how many there are of each class."""
    code = request.query_params.get("code", "")
    return json_answer(list_troubles(house_of(request), stage=stage_of(request), code=code, page=page_of(request)))


routes = [
    Route("/api/status", status),
    Route("/api/sources", sources, methods=["GET"]),
    Route("/api/sources", add_source, methods=["POST"]),
    Route("/api/sources/{id}", source),
    Route("/api/sources/{id}/start", start_source, methods=["POST"]),
    Route("/api/sources/{id}/policy", set_policy, methods=["POST"]),
    Route("/api/sources/{id}/keep", set_keep, methods=["POST"]),
    Route("/api/documents", documents),
    Route("/api/documents/{id}", document),
    Route("/api/documents/{id}/annotations", reading),
    Route("/api/entities", entities),
    Route("/api/entities/{kind}/{slug:path}", entity),
    Route("/api/problems", problems),
]
