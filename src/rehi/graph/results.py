"""Results: the media types of query results, and which of them a client gets."""

from __future__ import annotations

from rehi.errors import QueryError
from rehi.graph.query import QueryKind
from rehi.model.accept import parse_accept, weigh

_TABLES = {
    "json": "application/sparql-results+json",
    "xml": "application/sparql-results+xml",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
}
_GRAPHS = {
    "ttl": "text/turtle",
    "nt": "application/n-triples",
    "xml": "application/rdf+xml",
    "json": "application/ld+json",
}
FORMATS = {QueryKind.SOLUTIONS: _TABLES, QueryKind.BOOLEAN: _TABLES, QueryKind.TRIPLES: _GRAPHS}

# Names under which clients ask for the same thing.
_ALIASES = {
    QueryKind.SOLUTIONS: {"application/json": "json", "application/xml": "xml", "text/xml": "xml"},
    QueryKind.BOOLEAN: {"application/json": "json", "application/xml": "xml", "text/xml": "xml"},
    QueryKind.TRIPLES: {
        "application/json": "json",
        "application/xml": "xml",
        "text/xml": "xml",
        "text/plain": "nt",
        "application/x-turtle": "ttl",
    },
}


def media_type_for(form: str, kind: QueryKind) -> str:
    """Return the media type of a short name; QueryError if a query of this kind has none. ``table`` is the default type."""
    formats = FORMATS[kind]
    if form == "table":
        return next(iter(formats.values()))
    if form not in formats:
        raise QueryError(f"a query for {kind.value} can't be answered as {form}; there are {', '.join(formats)}")
    return formats[form]


def choose_media_type(accept: str, kind: QueryKind) -> str | None:
    """Return the media type that an Accept header prefers, the first of ours among equals; None if it accepts none."""
    formats = FORMATS[kind]
    ranges = parse_accept(accept)
    best, best_quality = None, 0.0
    for short, media_type in formats.items():
        aliases = {alias for alias, of in _ALIASES[kind].items() if of == short}
        quality = max([weigh(media_type, ranges), *(q for name, q in ranges if name in aliases)])
        if quality > best_quality:
            best, best_quality = media_type, quality
    return best
