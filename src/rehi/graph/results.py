"""Results: the media types of query results, and which of them a client gets."""

from __future__ import annotations

from rehi.errors import QueryError
from rehi.graph.query import QueryKind

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
_MOST_RANGES = 100  # of an Accept header; browsers send about six


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
    ranges = _parse(accept) or [("*/*", 1.0)]
    best, best_quality = None, 0.0
    for short, media_type in formats.items():
        aliases = {alias for alias, of in _ALIASES[kind].items() if of == short}
        quality = max([_quality(media_type, ranges), *(q for name, q in ranges if name in aliases)])
        if quality > best_quality:
            best, best_quality = media_type, quality
    return best


def _parse(accept: str) -> list[tuple[str, float]]:
    ranges = []
    for part in accept.split(",")[:_MOST_RANGES]:
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if name:
            ranges.append((name, _weight(parameters)))
    return ranges


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0


def _quality(name: str, ranges: list[tuple[str, float]]) -> float:
    """Return the quality of a media type by the most specific range that covers it (RFC 9110)."""
    for wanted in (name, f"{name.partition('/')[0]}/*", "*/*"):
        for offered, quality in ranges:
            if offered == wanted:
                return quality
    return 0.0
