"""The table of operations: all that can be asked over HTTP, on one page.

To add one: write a function with typed keyword parameters, and a row here. Its route, its entry in the OpenAPI document,
its place on the page ``/docs`` and in ``docs/api.md`` follow from these.
"""

from __future__ import annotations

from rehi.errors import (
    BodyPruned,
    Busy,
    ComparisonError,
    LiesElsewhere,
    NotFound,
    QueryError,
    QueryTimeout,
    QueryTooLarge,
    ReadError,
    RecordDamaged,
    RecordMissing,
    RehiError,
    SettingsError,
    SourceError,
)
from rehi.model.http import REDIRECTS
from rehi.operations.operation import JSON, Operation

TEXT, HTML, ZIP, ANY = "text/plain", "text/html", "application/zip", "*/*"
SPARQL_ANSWERS = (
    "application/sparql-results+json", "application/sparql-results+xml", "text/csv", "text/tab-separated-values",
    "text/turtle", "application/n-triples", HTML,
)  # fmt: skip
_LOST: tuple[type[RehiError], ...] = (NotFound, BodyPruned, LiesElsewhere, RecordMissing, RecordDamaged)
SPARQL_JSON = {SPARQL_ANSWERS[0]: "rehi.serve.answer_types:SparqlJson"}
_MEMENTO = ("Memento-Datetime", "Link")
_ASKED: tuple[type[RehiError], ...] = (QueryError, QueryTimeout, QueryTooLarge, LiesElsewhere)

GROUPS: dict[str, tuple[Operation, ...]] = {
    "Status": (
        Operation("get_status", "GET /api/status", "rehi.operations.status:get_status",
                  "What is being done now, and the totals."),
    ),
    "Sources": (
        Operation("list_sources", "GET /api/sources", "rehi.operations.sources:list_sources",
                  "All sources with their statistics."),
        Operation("get_source", "GET /api/sources/{source_id}", "rehi.operations.sources:get_source",
                  "One source with its statistics.", errors=(NotFound,)),
        Operation("add_source", "POST /api/sources", "rehi.serve.uploads:add_source",
                  "Add a source: a file, or the address of one or of a page.", changes=True, status=201,
                  errors=(SourceError,), statuses=(409, 411),
                  accepts={"multipart/form-data": "rehi.serve.uploads:UploadForm",
                           JSON: "rehi.operations.sources:add_source"}),
        Operation("start_source", "POST /api/sources/{source_id}/start", "rehi.operations.sources:start_source",
                  "Take a waiting source in and harvest it.", changes=True, status=202, errors=(NotFound,)),
        Operation("set_policy", "POST /api/sources/{source_id}/policy", "rehi.operations.revisit:set_policy",
                  "When its pages are visited again, and how much they matter.", changes=True,
                  errors=(NotFound, SettingsError)),
        Operation("set_keep", "POST /api/sources/{source_id}/keep", "rehi.operations.retention:set_keep",
                  "Which versions of its pages are kept.", changes=True, errors=(NotFound, SettingsError)),
        Operation("set_follow", "POST /api/sources/{source_id}/follow", "rehi.operations.sources:set_follow",
                  "Which links of its pages become pages of it.", changes=True, errors=(NotFound, SettingsError)),
    ),
    "Documents": (
        Operation("list_documents", "GET /api/documents", "rehi.operations.documents:list_documents",
                  "Documents, narrowed down."),
        Operation("get_document", "GET /api/documents/{document_id}", "rehi.operations.documents:get_document",
                  "One document with its names, versions, parts and tables, and what its sources say of it.",
                  errors=(NotFound,)),
        Operation("get_annotations", "GET /api/documents/{document_id}/annotations",
                  "rehi.operations.documents:get_annotations", "Its text, and all that is understood of it.",
                  errors=_LOST),
    ),
    "Entities": (
        Operation("find_entities", "GET /api/entities", "rehi.operations.entities:find_entities",
                  "People, organisations and places by the beginning of a name."),
        Operation("get_entity", "GET /api/entities/{kind}/{slug:path}", "rehi.operations.entities:get_entity",
                  "One of them.", errors=(NotFound,)),
        Operation("merge_entities", "POST /api/entities/merge", "rehi.operations.entities:merge_entities",
                  "Let two of them be one.", changes=True, errors=(NotFound,)),
        Operation("split_entity", "POST /api/entities/split", "rehi.operations.entities:split_entity",
                  "Let some documents mention another one of the same name.", changes=True, errors=(NotFound,)),
    ),
    "Graph": (
        Operation("query_graph", "GET /sparql", "rehi.serve.sparql:query_graph",
                  "Ask the graph in SPARQL 1.1.", errors=_ASKED, statuses=(406,), media_types=SPARQL_ANSWERS,
                  writes=SPARQL_JSON, headers={200: ("Rehi-Incomplete",)}),
        Operation("post_query", "POST /sparql", "rehi.serve.sparql:post_query",
                  "Ask the graph, with the query in the body.", errors=_ASKED, statuses=(406, 413, 415),
                  media_types=SPARQL_ANSWERS, writes=SPARQL_JSON, headers={200: ("Rehi-Incomplete",)},
                  accepts={"application/sparql-query": "rehi.serve.sparql:QueryText",
                           "application/x-www-form-urlencoded": "rehi.serve.sparql:query_form"}),
    ),
    "Versions": (
        Operation("list_versions", "GET /api/versions", "rehi.operations.versions:list_versions",
                  "The versions of a URL: number, time, type, size, digest, and how each is stored.",
                  errors=(NotFound,)),
        Operation("get_text", "GET /api/text", "rehi.operations.readings:get_text",
                  "The text of any version, with all that is understood of it.", errors=(*_LOST, ReadError, Busy)),
        Operation("get_diff", "GET /api/diff", "rehi.operations.diff:get_diff",
                  "What is different between two versions.",
                  errors=(*_LOST, ComparisonError, ReadError, Busy)),
        Operation("download_versions", "GET /download.zip", "rehi.operations.downloads:download_versions",
                  "Many versions as a zip that is made while it is read.", errors=(NotFound,), media_types=(ZIP,),
                  headers={200: ("Content-Disposition",)}),
    ),
    "Web archive": (
        Operation("get_timegate", "GET /web/{url}", "rehi.serve.replay:get_timegate",
                  "The way to the capture that is closest to Accept-Datetime, or to the newest.", status=302,
                  errors=(NotFound,), media_types=(), headers={302: ("Location", "Link", "Vary")}),
        Operation("get_memento", "GET /web/{digits}/{url}", "rehi.serve.replay:get_memento",
                  "A capture; digits are its time, and with id_ behind them it comes byte for byte.",
                  statuses=(206, 301, 302, 303, 304, 307, 308, 403, 416), errors=_LOST, media_types=(ANY,), keeps_status=True,
                  headers={200: (*_MEMENTO, "ETag", "Content-Disposition"), 206: (*_MEMENTO, "ETag", "Content-Range"),
                           304: ("ETag",), **dict.fromkeys(REDIRECTS, ("Location", *_MEMENTO))}),
        Operation("get_calendar", "GET /web/*/{url}", "rehi.serve.replay:get_calendar",
                  "The history of a URL, as a page.", errors=(NotFound,), media_types=(HTML,)),
        Operation("get_timemap", "GET /web/timemap/link/{url}", "rehi.serve.timemaps:get_timemap",
                  "All captures of a URL in link format (RFC 7089).", errors=(NotFound,),
                  media_types=("application/link-format",)),
        Operation("get_timemap_json", "GET /web/timemap/json/{url}", "rehi.serve.timemaps:get_timemap_json",
                  "All captures of a URL as JSON.", errors=(NotFound,),
                  writes={JSON: "rehi.serve.answer_types:TimeMapJson"}),
        Operation("list_captures", "GET /cdx", "rehi.operations.cdx:list_captures",
                  "Captures of a URL, a host or a domain, as CDX.", media_types=(TEXT, JSON, "text/x-cdxj"),
                  writes={JSON: "rehi.serve.answer_types:CdxRows"}),
    ),
    "Archive": (
        Operation("get_archive", "GET /api/archive", "rehi.operations.archive_stats:get_archive",
                  "What the archive holds: logical, distinct, stored and duplicate bytes, by type and host."),
    ),
    "Hosts": (
        Operation("list_hosts", "GET /api/hosts", "rehi.operations.hosts:list_hosts",
                  "Hosts, those in trouble first."),
        Operation("get_host", "GET /api/hosts/{name}", "rehi.operations.hosts:get_host",
                  "All that is known of a host, by origin: rules, pace, orders, last visits.", errors=(NotFound,)),
        Operation("set_orders", "POST /api/hosts/{host_id}/orders", "rehi.operations.hosts:set_orders",
                  "Order how one origin is treated.", changes=True, errors=(NotFound, SettingsError)),
    ),
    "Updates": (
        Operation("list_updates", "GET /api/updates", "rehi.operations.updates:list_updates",
                  "The update that runs, and past ones."),
        Operation("start_update", "POST /api/updates", "rehi.operations.updates:start_update",
                  "Have everything visited now, or one source, host or page.", changes=True, status=202,
                  errors=(NotFound, SettingsError)),
    ),
    "Problems": (
        Operation("list_problems", "GET /api/problems", "rehi.operations.problems:list_problems",
                  "What went wrong, and how many problems there are of each class."),
    ),
    "Health": (
        Operation("examine_house", "POST /api/doctor", "rehi.operations.health:examine_house",
                  "Whether every part of the house is as it should be, and what ails it.", changes=True),
    ),
    "Workers": (
        Operation("list_workers", "GET /api/workers", "rehi.operations.workers:list_workers",
                  "Who works on the catalogue: since when, the last sign of life, and what each holds."),
    ),
    "About": (
        Operation("list_plugins", "GET /api/plugins", "rehi.operations.plugins:list_plugins",
                  "The parts of every kind that are installed, and the packages that bring them."),
        Operation("get_openapi", "GET /openapi.json", "rehi.serve.openapi:get_openapi",
                  "All of this as an OpenAPI 3.1 document.", writes={JSON: "rehi.serve.answer_types:ApiDocument"}),
    ),
}  # fmt: skip

OPERATIONS: tuple[Operation, ...] = tuple(operation for group in GROUPS.values() for operation in group)
