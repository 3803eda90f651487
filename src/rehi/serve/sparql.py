"""SPARQL 1.1 over HTTP: the query protocol, and the page for people."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from rehi.app import House
from rehi.errors import Busy, QueryError
from rehi.graph import choose_media_type, media_type_for, prepare_query
from rehi.model.media import bare_name
from rehi.operations.operation import read_signature
from rehi.operations.parameters import SEVERAL_LINES
from rehi.ports import QueryAnswer
from rehi.serve.examples import EXAMPLES
from rehi.serve.lane import QueryLane
from rehi.serve.problem_details import BadRequest, WrongParameter, headers_of, status_of
from rehi.serve.rendering import house_of, render, wants_page
from rehi.serve.request_parameters import check_fields, decode, parse_fields, read_body

MAX_QUERY = 100_000  # characters
MAX_IN_URL = 20_000  # characters of a query in the address: percent-encoded they fit into what the server takes
ANSWER_SHOWN = 1_000  # rows of an answer on the page
INCOMPLETE = "rehi-incomplete"  # the header that says why the graph does not know all that it should

QueryText = Annotated[str, Field(max_length=MAX_QUERY, description="The query, in SPARQL 1.1."), SEVERAL_LINES]
ShortQuery = Annotated[
    str, Field(max_length=MAX_IN_URL, description="The query, in SPARQL 1.1; POST longer ones."), SEVERAL_LINES
]
Form = Annotated[
    Literal["", "json", "xml", "csv", "tsv", "ttl", "nt"],
    Field(alias="format", description="How to write the answer, whatever Accept says."),
]


async def query_graph(request: Request, *, query: ShortQuery = "", form: Form = "") -> Response:
    """Ask the graph within the limits that are set; a person without a query gets the page."""
    if not query and wants_page(request):
        return await run_in_threadpool(show_sparql, request)
    return await _answer(request, query, form)


def query_form(request: Request, *, query: QueryText = "", form: Form = "") -> None:
    """Declare the fields of the form in which a query is posted."""


async def post_query(request: Request, *, form: Form = "") -> Response:
    """Ask the graph with a form, or with the query itself as the body."""
    body = await read_body(request, largest=MAX_QUERY * 3)
    media_type = bare_name(request.headers.get("content-type", ""))
    if media_type == "application/sparql-query":
        fields = [("query", decode(body))]
    elif media_type == "application/x-www-form-urlencoded":
        fields = parse_fields(body)
    else:
        raise HTTPException(415, "POST the query as application/sparql-query or application/x-www-form-urlencoded")
    given = check_fields(fields, read_signature(query_form), status=400)
    return await _answer(request, given["query"], given["form"] or form)


async def _answer(request: Request, query: str, form: str) -> Response:
    if not query:
        detail = "there is no query; send it as ?query=… or as the body of a POST"
        raise BadRequest(400, [WrongParameter(name="query", detail=detail)])
    client = request.client.host if request.client else ""
    lane: QueryLane = request.app.state.lane
    if wants_page(request) and not form:
        return await lane.run(client, partial(show_answer, request, query))
    answer, first = await lane.run(client, partial(_begin, request, query, form))
    headers = {INCOMPLETE: answer.incomplete.encode("ascii", "replace").decode()} if answer.incomplete else None
    return StreamingResponse(_chunks(first, answer), media_type=answer.media_type, headers=headers)


def _begin(request: Request, query: str, form: str) -> tuple[QueryAnswer, bytes]:
    """Wait for the first bytes, so that what goes wrong before them has its own status."""
    accept = request.headers.get("accept", "*/*")
    prepared = prepare_query(query)
    media_type = media_type_for(form, prepared.kind) if form else choose_media_type(accept, prepared.kind)
    if media_type is None:
        raise HTTPException(406, "the answer can be had as SPARQL JSON, XML, CSV and TSV, or as Turtle and N-Triples")
    answer = house_of(request).query(prepared, media_type=media_type)
    return answer, next(answer.chunks, b"")


def _chunks(first: bytes, answer: QueryAnswer) -> Iterator[bytes]:
    yield first
    yield from answer.chunks


def show_sparql(request: Request) -> Response:
    """Show the query page with an example in it."""
    return _page(request, EXAMPLES[0][1])


def show_answer(request: Request, query: str) -> Response:
    """Show the query page with the first rows of the answer, or with what is wrong."""
    try:
        return _page(request, query, answer=_table(house_of(request), query))
    except (QueryError, Busy) as error:
        page = _page(request, query, error=str(error), status=status_of(type(error), method=request.method))
        page.headers.update(headers_of(error))
        return page


def _page(
    request: Request, text: str, *, answer: dict[str, Any] | None = None, error: str = "", status: int = 200
) -> Response:
    values = {"text": text, "examples": EXAMPLES, "answer": answer, "error": error}
    return render(request, "sparql.html", values, status=status)


def _table(house: House, query: str) -> dict[str, Any]:
    prepared = prepare_query(query)
    answer = house.query(prepared, media_type=media_type_for("table", prepared.kind), rows=ANSWER_SHOWN + 1)
    body = b"".join(answer.chunks)
    shown: dict[str, Any] = {"milliseconds": answer.seconds * 1000, "incomplete": answer.incomplete}
    if answer.media_type != "application/sparql-results+json":
        return shown | {"text": body.decode()}
    result = orjson.loads(body)
    if "boolean" in result:
        return shown | {"text": "yes" if result["boolean"] else "no"}
    rows = result["results"]["bindings"]
    return shown | {"columns": result["head"]["vars"], "rows": rows[:ANSWER_SHOWN], "more": len(rows) > ANSWER_SHOWN}
