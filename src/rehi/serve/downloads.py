"""Downloads: many versions as a zip file that is made while it is sent."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rehi.app import utc_now
from rehi.desk.downloading import Tally, choose, zip_versions
from rehi.desk.moments import digits_of
from rehi.serve import api
from rehi.serve.ranges import CarefulStream

_KNOWN = frozenset({"url", "prefix", "host", "domain", "source", "type", "since", "until", "all"})
_YES = frozenset({"1", "true", "yes", "on"})


def download(request: Request) -> Response:
    """The newest versions of all that matches, or all of them with ``all=1``."""
    get = request.query_params.get
    if unknown := set(request.query_params) - _KNOWN:
        raise HTTPException(400, f"{min(unknown)[:40]!r} is not known here; there are {', '.join(sorted(_KNOWN))}")
    house = api.house_of(request)
    where = choose(
        house,
        url=get("url", ""),
        prefix=get("prefix", ""),
        host=get("host", ""),
        domain=get("domain", "").lower() in _YES,
        source_id=api.number(get("source", ""), "source") if get("source") else None,
        media_type=get("type", ""),
        since=get("since", ""),
        until=get("until", ""),
    )
    chunks = zip_versions(house, where, all_versions=get("all", "").lower() in _YES, tally=Tally())
    headers = {
        "content-type": "application/zip",
        "content-disposition": f'attachment; filename="rehi-{digits_of(utc_now())}.zip"',
    }
    return CarefulStream(iter(()) if request.method == "HEAD" else chunks, headers=headers)


routes = [Route("/download.zip", download)]
