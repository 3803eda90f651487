"""The metadata of a document: who made it, when, and what it says it is about, as it says so itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from rehi.enrich.facet import SilentFacet
from rehi.model.document import Document

if TYPE_CHECKING:
    from pyoxigraph import Triple

    from rehi.ports.graph import DescribedPage

Metadata = tuple[tuple[str, str], ...]  # names with values, in the document's order

_TERMS = "http://purl.org/dc/terms/"
_XSD = "http://www.w3.org/2001/XMLSchema#"
# What the graph states of them. Dates are stated only where they can be read, and without saying of what they are: some
# pages mean the day on which they were written, and some that on which they were published.
_STATED = {
    "author": "creator", "publisher": "publisher", "description": "description", "keywords": "subject",
    "date": "date", "modified": "modified",
}  # fmt: skip
_DATES = frozenset({"date", "modified"})
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}")


class MetadataFacet(SilentFacet):
    """What a document says of itself."""

    name = "metadata"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> Metadata | None:
        """Take it from what was read, if there is anything."""
        return document.metadata or None

    def encode(self, value: Metadata) -> list[list[str]]:
        """Return pairs."""
        return [[name, text] for name, text in value]

    def decode(self, data: Any, version: int) -> Metadata:
        """Return the pairs that were encoded."""
        return tuple((str(name), str(text)) for name, text in data)

    def brief(self, value: Metadata) -> dict[str, str] | None:
        """Keep what the graph states."""
        return {name: text for name, text in value if name in _STATED} or None

    def show(self, value: Metadata) -> Iterable[tuple[str, str]]:
        """Show all of it."""
        return ((name.capitalize(), text) for name, text in value)

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """Say it with the terms of Dublin Core."""
        from pyoxigraph import Literal, NamedNode, Triple

        for name, text in (brief or {}).items():
            if name not in _STATED:
                continue
            term = NamedNode(_TERMS + _STATED[name])
            if name not in _DATES:
                yield Triple(page.iri, term, Literal(text))
            elif (read := _read_date(text)) is not None:
                yield Triple(page.iri, term, Literal(read[0], datatype=NamedNode(_XSD + read[1])))


def _read_date(text: str) -> tuple[str, str] | None:
    """Return a day or a moment as XML Schema writes it, with its type there; None if it can't be read as one."""
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text).isoformat(), "date"
        return (datetime.fromisoformat(text).isoformat(), "dateTime") if _MOMENT.match(text) else None
    except ValueError:
        return None


FACET = MetadataFacet()
