"""A facet: one kind of knowledge about a document.

A facet is one module with a value named ``FACET``. It owns its frozen value, a versioned codec for it, what it puts into
the search index, what a page shows of it, and what it states in the graph. ``builtin.py`` has the table; an outsider's
comes by an entry point of the group ``rehi.facet``. Facets are found in the table's order, so that a later one can build
on an earlier one. Whatever a facet raises costs only itself: the text and the other facets stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from rehi.model.document import Document, Term

if TYPE_CHECKING:
    from pyoxigraph import Triple

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
        """Return the value that was encoded by this or another version; ValueError if it can't be one.

        Keys that another version has added or left out are no reason to fail.
        """

    def brief(self, value: Any) -> Any:
        """Return what the catalogue keeps of the value, as JSON can hold it, for pages and the graph; None for nothing."""

    def terms(self, value: Any) -> Iterable[Term]:
        """Return the fields and values by which the document can be found."""

    def show(self, value: Any) -> Iterable[tuple[str, str]]:
        """Return what a page shows of the value, beside the terms: labels with texts."""

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

    def show(self, value: Any) -> Iterable[tuple[str, str]]:
        """Show nothing."""
        return ()

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """State nothing."""
        return ()
