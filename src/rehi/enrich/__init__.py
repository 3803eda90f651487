"""Enrich: what is understood of a document, facet by facet."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rehi.builtin import load, table
from rehi.enrich.facet import Facet, SilentFacet, briefs_of, terms_of
from rehi.model.document import Document

__all__ = ["Facet", "SilentFacet", "briefs_of", "enrich", "recipe_of", "terms_of"]


def enrich(document: Document) -> Mapping[str, Any]:
    """Return all that is understood of a document, by the names of the facets."""
    facets: dict[str, Any] = {}
    for name in table("facet"):
        value = load("facet", name).find(document, MappingProxyType(facets))
        if value is not None:
            facets[name] = value
    return facets


def recipe_of() -> str:
    """Return the names and versions of all facets, as a recipe names them: ``language-1 names-1``."""
    return " ".join(f"{name}-{load('facet', name).version}" for name in table("facet"))
