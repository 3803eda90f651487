"""A facet: one kind of knowledge about a document.

A facet is one module with a value named ``FACET``. It owns its frozen value, a versioned codec for it, what it puts into
the search index, and what it states in the graph. ``builtin.py`` has the table; an outsider's comes by an entry point of
the group ``rehi.facet``. Facets are found in the table's order, so that a later one can build on an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from rehi.model.document import Document, Term

if TYPE_CHECKING:
    from pyoxigraph import Triple

    from rehi.model.work import FacetBrief
    from rehi.ports.graph import DescribedPage


class Facet(Protocol):
    """What is understood of a document in one respect."""

    name: str  # under which its values are kept
    version: int  # of the codec and of the way it is found; readings of another version are out of date

    def find(self, document: Document, facets: Mapping[str, Any]) -> Any:
        """Return the facet's value for a document, given those found before it; None if there is nothing to say."""

    def encode(self, value: Any) -> Any:
        """Return the value as JSON can hold it: dictionaries, lists, strings and numbers."""

    def decode(self, data: Any, version: int) -> Any:
        """Return the value that was encoded by this or an earlier version; ValueError if it can't be one."""

    def brief(self, value: Any) -> Any:
        """Return what the catalogue keeps of the value, as JSON can hold it, for pages and the graph; None for nothing."""

    def terms(self, value: Any) -> Iterable[Term]:
        """Return the fields and values by which the document can be found."""

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """Return what the graph says of the page; ``brief`` is what the catalogue keeps, None if it keeps nothing."""


class SilentFacet:
    """A base for facets that keep nothing in the catalogue, put nothing into the index and state nothing."""

    def encode(self, value: Any) -> Any:
        """Return the value as it is."""
        return value

    def decode(self, data: Any, version: int) -> Any:
        """Return the data as they are."""
        return data

    def brief(self, value: Any) -> Any:
        """Keep nothing."""
        return None

    def terms(self, value: Any) -> Iterable[Term]:
        """Give nothing to search by."""
        return ()

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """State nothing."""
        return ()


def briefs_of(facets: Mapping[str, Any]) -> tuple[FacetBrief, ...]:
    """Return what the catalogue keeps of a reading's facets."""
    import orjson

    from rehi.builtin import load
    from rehi.model.work import FacetBrief

    briefs = []
    for name, value in facets.items():
        facet: Facet = load("facet", name)
        if (brief := facet.brief(value)) is not None:
            briefs.append(FacetBrief(name=name, version=facet.version, data=orjson.dumps(brief)))
    return tuple(briefs)


def terms_of(facets: Mapping[str, Any]) -> tuple[Term, ...]:
    """Return all by which a document can be found, of all its facets, without repeats."""
    from rehi.builtin import load

    return tuple(dict.fromkeys(term for name, value in facets.items() for term in load("facet", name).terms(value)))
