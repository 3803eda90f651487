"""CDX over HTTP: the captures of a URL, a host or a domain, in the words of web archives."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rehi.desk.cdx import WRITERS, list_rows, parse_query
from rehi.errors import SettingsError
from rehi.serve import api
from rehi.serve.ranges import CarefulStream
from rehi.serve.timemaps import batched


def cdx(request: Request) -> Response:
    """Rows in the order of URLs and of time, written while they are read; none is an answer too."""
    form = request.query_params.get("output", "text")
    if form not in WRITERS:
        raise HTTPException(400, f"there is no output {form[:40]!r}; there are {', '.join(WRITERS)}")
    write, media_type = WRITERS[form]
    try:
        query = parse_query(request.query_params.multi_items())
    except SettingsError as error:
        raise HTTPException(400, str(error)) from error
    rows = list_rows(api.house_of(request), query)
    return CarefulStream(batched(write(rows, query.fields)), headers={"content-type": media_type})


routes = [Route("/cdx", cdx)]
