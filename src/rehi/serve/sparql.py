"""SPARQL 1.1 over HTTP: the query protocol."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from rehi.app import House
from rehi.graph import choose_media_type, media_type_for, query_kind
from rehi.ports import QueryAnswer
from rehi.serve import pages

MAX_QUERY = 100_000  # bytes


async def answer(request: Request) -> Response:
    """GET ?query=, POST a form, or POST the query itself; a person without a query gets the page."""
    query, form = await _read(request)
    if not query:
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            return await run_in_threadpool(pages.sparql_page, request)
        raise HTTPException(400, "there is no query; send it as ?query=… or as the body of a POST")
    accept = request.headers.get("accept", "*/*")
    if "text/html" in accept and not form:
        return await run_in_threadpool(pages.sparql_page, request, query)
    media_type = media_type_for(form, query) if form else choose_media_type(accept, query_kind(query))
    if media_type is None:
        raise HTTPException(406, "the answer can be had as SPARQL JSON, XML, CSV and TSV, or as Turtle and N-Triples")
    house: House = request.app.state.house
    result, first = await run_in_threadpool(_begin, house, query, media_type)
    return StreamingResponse(_all(first, result), media_type=result.media_type)


def _begin(house: House, query: str, media_type: str) -> tuple[QueryAnswer, bytes]:
    """Wait for the first bytes, so that what goes wrong before them has its own status."""
    result = house.query(query, media_type=media_type)
    return result, next(result.chunks, b"")


def _all(first: bytes, result: QueryAnswer) -> Iterator[bytes]:
    yield first
    yield from result.chunks


async def _read(request: Request) -> tuple[str, str]:
    params = dict(request.query_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    for unsupported in ("default-graph-uri", "named-graph-uri", "update"):
        if unsupported in params:
            raise HTTPException(400, f"{unsupported} is not supported: queries see the union of all graphs, read-only")
    if request.method == "GET":
        return params.get("query", ""), params.get("format", "")
    body = await _body(request)
    if kind == "application/sparql-query":
        return body.decode("utf-8", "replace"), params.get("format", "")
    if kind == "application/x-www-form-urlencoded":
        fields = parse_qs(body.decode("utf-8", "replace"))
        if "update" in fields:
            raise HTTPException(400, "updates are not taken here; the graph is written by the harvest alone")
        return fields.get("query", [""])[0], fields.get("format", [""])[0]
    raise HTTPException(415, "POST the query as application/sparql-query or application/x-www-form-urlencoded")


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_QUERY * 3:
            raise HTTPException(413, f"a query may have {MAX_QUERY} bytes")
    return body


routes = [Route("/sparql", answer, methods=["GET", "POST"])]
