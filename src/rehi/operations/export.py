"""Export: what is kept, or a part of it, as plain WARC, as WACZ or as files, to take elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rehi import __version__
from rehi.app import House, utc_now
from rehi.errors import NotFound, QueryError, QueryTooLarge, UserError
from rehi.model.capture import Capture, CaptureFilter
from rehi.operations.moments import parse_moment
from rehi.sources import host_meant

if TYPE_CHECKING:
    from rehi.archive.export import Exported, ExportInfo, Workplace

_ANSWER = 256 << 20  # bytes of a query's answer
# What is percent-encoded in an IRI, though it may stand in a URL.
_ENCODED = re.compile(r"%(?:22|3C|3E|5B|5C|5D|5E|60|7B|7C|7D)")


class ExportKind(StrEnum):
    """The formats of an export that other programs read."""

    WARC = "warc"
    WACZ = "wacz"
    FILES = "files"


def what_to_export(
    house: House,
    *,
    source_id: int | None = None,
    host: str = "",
    subdomains: bool = False,
    media_type: str = "",
    since: str = "",
    until: str = "",
    prefix: str = "",
    sparql: str = "",
    versions_only: bool = False,
) -> CaptureFilter:
    """Return the captures that are meant; NotFound for a source or a host that nobody knows, QueryError for a wrong query."""
    if source_id is not None:
        house.catalogue.source(source_id)
    name = host_meant(host) if host else ""
    if name and not subdomains:
        house.catalogue.host(name, now=utc_now())
    where = CaptureFilter(
        prefix=prefix,
        host=name,
        domain=subdomains,
        source_id=source_id,
        media_type=media_type.strip().lower(),
        since=parse_moment(since, end=False) if since else None,
        until=parse_moment(until, end=True) if until else None,
        versions_only=versions_only,
    )
    if where.since and where.until and where.since > where.until:
        raise UserError(f"--since {since} is later than --until {until}; nothing lies between")
    return replace(where, urls=urls_of(house, sparql)) if sparql else where


def urls_of(house: House, query: str) -> frozenset[str]:
    """Return the URLs that the first variable of a SELECT is bound to; QueryError if there are none."""
    import orjson

    from rehi.graph import QueryKind, media_type_for, prepare_query

    prepared = prepare_query(query)
    if prepared.kind is not QueryKind.SOLUTIONS:
        raise QueryError("an export needs a SELECT whose first variable is the URL of a document")
    answer = house.query(prepared, media_type=media_type_for("json", prepared.kind))
    body = bytearray()
    for chunk in answer.chunks:
        body += chunk
        if len(body) > _ANSWER:
            raise QueryTooLarge("the query finds too many documents to be exported by it; ask for fewer, or use --host")
    result = orjson.loads(body)
    variable = next(iter(result["head"]["vars"]), "")
    urls = _bound(result["results"]["bindings"], variable)
    if not urls:
        raise QueryError(f"the query binds no URL of a document to its first variable, ?{variable}")
    return frozenset(urls)


def _bound(rows: Iterable[dict[str, Any]], variable: str) -> set[str]:
    urls = set()
    for row in rows:
        term = row.get(variable, {})
        if term.get("type") == "uri" and term["value"].startswith(("http://", "https://")):
            urls.add(term["value"])
            urls.add(_ENCODED.sub(lambda match: chr(int(match[0][1:], 16)), term["value"]))
    return urls


def export(
    house: House,
    kind: ExportKind,
    dest: Path,
    where: CaptureFilter,
    *,
    force: bool = False,
    file_bytes: int = 1_000_000_000,
    watch: Callable[[Exported], None] = lambda _: None,
) -> Exported:
    """Write all that matches to a place where nothing is yet; all of it, or nothing.

    ``watch`` sees how far it is after each capture, and may raise to stop.
    """
    from rehi.archive.export import Exported, export_folder, export_package

    if kind is ExportKind.WACZ and dest.suffix.lower() != ".wacz":
        raise UserError(f"the name of a WACZ ends with .wacz, and {dest.name or dest} does not")
    exported = Exported()
    made = export_package if kind is ExportKind.WACZ else export_folder
    with made(dest, force=force) as work:
        _write(house, kind, where, work, file_bytes=file_bytes, exported=exported, watch=watch)
        if not exported.captures:
            raise NotFound(_nothing(exported))
    return exported


def _write(
    house: House,
    kind: ExportKind,
    where: CaptureFilter,
    work: Workplace,
    *,
    file_bytes: int,
    exported: Exported,
    watch: Callable[[Exported], None],
) -> None:
    from rehi.archive.export import ExportInfo, FileExport, FolderWarcs, WaczExport, mark_folder

    shelf = house.archive.shelf
    info = ExportInfo(
        software=f"rehi/{__version__}", title=_title(where), description=_describe(where), made_at=utc_now()
    )
    out: FileExport | FolderWarcs | WaczExport
    if kind is ExportKind.FILES:
        out = FileExport(shelf, work.target, exported=exported)
    elif kind is ExportKind.WARC:
        out = FolderWarcs(shelf, work.target, spool=work.spool, info=info, file_bytes=file_bytes, exported=exported)
    else:
        out = WaczExport(
            shelf, work.target, spool=work.spool, info=info, file_bytes=file_bytes, exported=exported,
            title_of=_Titles(house),
        )  # fmt: skip
    with closing(out):
        for capture in house.catalogue.captures(where):
            out.add(capture)
            watch(exported)
        out.finish()
    if kind is not ExportKind.WACZ:
        mark_folder(work.target, _summary(info, exported))


class _Titles:
    """The titles of pages, each asked for once: captures come URL by URL."""

    def __init__(self, house: House) -> None:
        self._house, self._resource_id, self._title = house, -1, ""

    def __call__(self, capture: Capture) -> str:
        if capture.resource_id != self._resource_id:
            self._resource_id = capture.resource_id
            self._title = self._house.catalogue.document(capture.resource_id).title
        return self._title


def _summary(info: ExportInfo, exported: Exported) -> dict[str, object]:
    return {
        "software": info.software,
        "made_at": info.made_at.isoformat(),
        "title": info.title,
        "description": info.description,
        "captures": exported.captures,
        "counts": dict(exported.counts),
        "dropped": exported.dropped,
        "unreadable": exported.unreadable,
    }


def _nothing(exported: Exported) -> str:
    if exported.unreadable:
        return f"none of what matches can be read ({exported.unreadable:,} visits): {exported.reasons[0]}"
    if exported.dropped:
        return f"the bytes of all that matches were dropped by a rule ({exported.dropped:,} visits)"
    return "nothing that is kept matches; ask for more, or see what there is with: rehi stats"


def _title(where: CaptureFilter) -> str:
    return f"Captures of {where.host or where.prefix or where.url or 'an archive'}"


def _describe(where: CaptureFilter) -> str:
    """Return in words which captures were asked for."""
    conditions = [
        f"source {where.source_id}" if where.source_id is not None else "",
        f"host {where.host}{' and those below it' if where.domain else ''}" if where.host else "",
        f"URLs that begin with {where.prefix}" if where.prefix else "",
        f"type {where.media_type}" if where.media_type else "",
        f"since {where.since.isoformat()}" if where.since else "",
        f"until {where.until.isoformat()}" if where.until else "",
        f"{len(where.urls):,} URLs found by a query" if where.urls is not None else "",
        "versions only" if where.versions_only else "",
    ]
    return "; ".join(filter(None, conditions)) or "everything that is kept"
