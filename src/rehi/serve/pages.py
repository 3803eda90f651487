"""The pages of documents, names, sources and problems, and the overview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rehi.errors import ArchiveAway, ArchiveError, EngineAway, LiesElsewhere, NotFound, ReadError
from rehi.link import slug
from rehi.model.document import Mention, Reading
from rehi.model.entity import EntityKey
from rehi.model.listing import DocumentFilter, Page
from rehi.model.outage import say
from rehi.operations.documents import get_document, list_documents
from rehi.operations.entities import KindName, find_entities, get_entity
from rehi.operations.parameters import ROWS, Limit, Offset, Url
from rehi.operations.plugins import list_plugins
from rehi.operations.problems import explain_no_problems, list_problems
from rehi.operations.readings import choose_version, read_version, view_facets
from rehi.operations.retention import keep_of, order_keep
from rehi.operations.revisit import PRIORITIES, order_policy, priority_of
from rehi.operations.source_rows import state_in_words
from rehi.operations.sources import entries_in_words, kind_in_words, order_follow, unit_of
from rehi.operations.status import count_outdated, get_totals, tell_outage
from rehi.operations.workers import list_workers
from rehi.serve.gate import COOKIE, Gate
from rehi.serve.problem_details import headers_of
from rehi.serve.rendering import house_of, render

TEXT_SHOWN = 50_000  # characters of a document's text
LONGEST_TOKEN = 10_000


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Some text: plain, or a name."""

    text: str
    kind: str = ""
    path: str = ""  # of the entity, after its kind


def show_overview(request: Request) -> Response:
    """Show what there is, what is going on, and the sources."""
    house, service = house_of(request), request.app.state.service
    try:
        catalogue = house.catalogue
        totals, gap = get_totals(house), house.graph_gap()
    except EngineAway as error:  # the one page that tells what is going on, whatever is away
        page = render(request, "away.html", {"status": tell_outage(service.status, error)}, status=503)
        page.headers.update(headers_of(error))
        return page
    values = {
        "gap": gap,
        "totals": totals,
        "sources": catalogue.sources(),
        "status": service.status,
        "kind_in_words": kind_in_words,
        "entries_in_words": entries_in_words,
    }
    return render(request, "overview.html", values)


def start_source(request: Request, source_id: int) -> Response:
    """Start a source, by its button."""
    request.app.state.service.start_source(source_id)
    return _back_to_source(source_id)


def set_policy(request: Request, source_id: int, policy: str | None, priority: str | None) -> Response:
    """Set a source's policy and priority, by their form."""
    order_policy(house_of(request), source_id, policy=policy, priority=priority)
    return _back_to_source(source_id)


def set_keep(request: Request, source_id: int, keep: str) -> Response:
    """Set what is kept of a source's pages, by its form."""
    order_keep(house_of(request), source_id, keep)
    return _back_to_source(source_id)


def set_follow(request: Request, source_id: int, follow: str) -> Response:
    """Set which links of a source are followed, by its form."""
    order_follow(house_of(request), source_id, follow)
    return _back_to_source(source_id)


def _back_to_source(source_id: int) -> Response:
    return RedirectResponse(f"/sources/{source_id}", status_code=303)


def show_source(request: Request, source_id: int) -> Response:
    """Show one source with its statistics."""
    house = house_of(request)
    row = house.catalogue.source(source_id)
    rejected = {key.partition(":")[2]: int(n) for key, n in row.counts.items() if key.startswith("rejected:")}
    seconds = {key.partition(":")[2]: n for key, n in row.counts.items() if key.startswith("seconds:")}
    values = {
        "source": row,
        "kind": kind_in_words(row),
        "state": state_in_words(house, row),
        "unit": unit_of(row),
        "rejected": _ranked(rejected),
        "seconds": _ranked(seconds),
        "priority": priority_of(row),
        "keep": keep_of(row),
        "priorities": list(PRIORITIES),
        "default_policy": house.settings.revisit.policy,
    }
    return render(request, "source.html", values)


def _ranked(counts: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def show_documents(request: Request, limit: int, offset: int, **where: Any) -> Response:
    """Show a list of documents that can be narrowed down."""
    house = house_of(request)
    matching = list_documents(house, limit=limit, offset=offset, **where)
    totals = get_totals(house)
    values = {
        "rows": matching.documents,
        "total": matching.total,
        "page": Page(limit=limit, offset=offset),
        "types": _ranked(totals.media_types),
        "languages": _ranked(totals.languages),
    }
    return render(request, "documents.html", values)


def show_document(request: Request, document_id: int) -> Response:
    """Show one document: its versions, names, parts and tables, what facets know, and its text with the names marked."""
    house = house_of(request)
    details = get_document(house, document_id=document_id)
    reading, trouble = None, ""
    try:
        reading = house.reading(document_id)
    except NotFound:
        pass
    except ArchiveAway as error:
        trouble = f"Its text can't be shown now: {say(error)}."
    except LiesElsewhere as error:
        trouble = f"Its text is not here: {error}."
    except (ArchiveError, ReadError) as error:  # what is known of the document can be shown nevertheless
        trouble = f"Its text can't be shown: {error}. {error.advice}"
    values = {
        "row": details.document,
        "versions": details.versions,
        "names": details.names,
        "sources": details.sources,
        "parts": details.parts,
        "tables": details.tables,
        "trouble": trouble,
        **_show_reading(reading, [name.key for name in details.names]),
    }
    return render(request, "document.html", values)


def show_text(request: Request, url: str, version: int | None, at: str) -> Response:
    """Show the text of any version, with what was understood of it."""
    house = house_of(request)
    chosen = choose_version(house, url, version, at)
    reading = read_version(house, chosen)
    document = reading.document
    values = {
        "url": url,
        "version": chosen,
        "parts": document.parts,
        "tables": document.tables,
        "title": document.title,
    }
    return render(request, "text.html", {**values, **_show_reading(reading)})


def _show_reading(reading: Reading | None, keys: Sequence[EntityKey] = ()) -> dict[str, Any]:
    """Return what pages show of a reading: the text with the names marked, and facets; nothing before it was read.

    Names lead to the entities that are given, of which some are not the first of their name.
    """
    if reading is None:
        return {"text": [], "cut": False, "facets": [], "failures": {}}
    text = reading.document.text
    facets, failures = view_facets(reading)
    return {
        "text": mark_names(text[:TEXT_SHOWN], reading.mentions, keys),
        "cut": len(text) > TEXT_SHOWN,
        "facets": facets,
        "failures": failures,
    }


def mark_names(text: str, mentions: Sequence[Mention], keys: Sequence[EntityKey] = ()) -> list[TextSpan]:
    """Return the spans of a text in order, with the names marked; together they are the text."""
    paths = {(key.kind, key.slug): key.path for key in keys}
    spans: list[TextSpan] = []
    at = 0
    for mention in mentions:
        if mention.start < at or mention.end > len(text):
            continue
        if mention.start > at:
            spans.append(TextSpan(text[at : mention.start]))
        named = slug(mention.name)
        path = paths.get((mention.kind, named), named)
        spans.append(TextSpan(text[mention.start : mention.end], mention.kind, path))
        at = mention.end
    if at < len(text):
        spans.append(TextSpan(text[at:]))
    return spans


def show_workers(request: Request) -> Response:
    """Show who works on the catalogue."""
    return render(request, "workers.html", {"workers": list_workers(house_of(request))})


def show_plugins(request: Request, others: bool) -> Response:
    """Show the parts that are installed, and the packages that bring them."""
    house = house_of(request)
    outdated = count_outdated(house, get_totals(house))
    values = {"plugins": list_plugins(house, others=others), "others": others, "outdated": outdated}
    return render(request, "plugins.html", values)


def find_document(request: Request, *, url: Url) -> Response:
    """Redirect to the document of a URL."""
    return RedirectResponse(f"/documents/{house_of(request).catalogue.document(url).resource_id}")


def show_names(request: Request, name: str, kind: KindName | None, limit: int, offset: int) -> Response:
    """Show people, organisations and places by the beginning of a name."""
    rows = find_entities(house_of(request), name=name, kind=kind, limit=limit, offset=offset)
    values = {"rows": rows, "wanted": name, "kind": kind, "page": Page(limit=limit, offset=offset)}
    return render(request, "names.html", values)


def show_entity(
    request: Request,
    *,
    kind: KindName,
    slug: Annotated[str, Field(max_length=300)],
    limit: Limit = ROWS,
    offset: Offset = 0,
) -> Response:
    """Show one entity and where it is mentioned."""
    house, page = house_of(request), Page(limit=limit, offset=offset)
    entity = get_entity(house, kind=kind, slug=slug)
    rows, total = house.catalogue.documents(DocumentFilter(entity=entity.key), page)
    return render(request, "entity.html", {"entity": entity, "rows": rows, "total": total, "page": page})


def show_problems(request: Request, limit: int, offset: int, code: str, **where: Any) -> Response:
    """Show what went wrong, by room and class."""
    listed = list_problems(house_of(request), code=code, limit=limit, offset=offset, **where)
    page = Page(limit=limit, offset=offset)
    values = {"listed": listed, "page": page, "nothing": explain_no_problems(listed, code)}
    return render(request, "problems.html", values)


def show_login(request: Request) -> Response:
    """Show the form in which the token is given."""
    return render(request, "login.html", {"wrong": False})


async def log_in(request: Request, *, token: Annotated[str, Field(max_length=LONGEST_TOKEN)] = "") -> Response:
    """Begin a session for whoever gives the token; its name is in a cookie that only this site is sent."""
    gate: Gate = request.app.state.gate
    if not gate.guess(request, token):
        return await run_in_threadpool(render, request, "login.html", {"wrong": True}, status=401)
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(
        COOKIE, gate.sessions.begin(), httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return response


async def log_out(request: Request) -> Response:
    """End the session, here and in the browser."""
    request.app.state.gate.sessions.end(request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/", status_code=303)
    response.delete_cookie(COOKIE)
    return response
