"""Enrich: what is understood of a document, facet by facet."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from rehi.builtin import load_all, packages
from rehi.enrich.facet import Facet, SilentFacet
from rehi.errors import RehiError
from rehi.model.codec import to_json
from rehi.model.document import Document, Term
from rehi.model.work import FacetBrief
from rehi.process import is_shortage

__all__ = ["Facet", "SilentFacet", "Understanding", "enrich", "recipe_of", "understand"]

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Understanding:
    """What is understood of a document, and what could not be."""

    facets: dict[str, Any] = field(default_factory=dict)  # values by the facets' names
    encoded: dict[str, bytes] = field(default_factory=dict)  # the same as JSON, with versions
    briefs: list[FacetBrief] = field(default_factory=list)  # what the catalogue keeps of them
    terms: dict[Term, None] = field(default_factory=dict)  # by which the document can be found, without repeats
    failures: dict[str, str] = field(default_factory=dict)  # facets that failed, and why


def understand(document: Document) -> Understanding:
    """Return all that is understood of a document. A facet that fails costs only itself, and those that build on it."""
    result = Understanding()
    for name, facet in load_all("facet").items():
        try:
            value = facet.find(document, MappingProxyType(result.facets))
            if value is None:
                continue
            plain, brief = facet.encode(value), facet.brief(value)
            terms = dict.fromkeys(Term(field=str(term.field), value=str(term.value)) for term in facet.terms(value))
            encoded = to_json({"version": facet.version, "value": plain})  # TypeError if JSON can't hold what it gives
            data = None if brief is None else to_json(brief)
        except Exception as error:  # of an outsider's facet or of a library: never a reason to lose the text
            if is_shortage(error):
                raise
            _log.warning("the facet %s failed", name, exc_info=True)
            result.failures[name] = str(error) if isinstance(error, RehiError) else f"{type(error).__name__}: {error}"
            continue
        result.facets[name], result.encoded[name] = value, encoded
        if data is not None:
            result.briefs.append(FacetBrief(name=name, version=facet.version, data=data))
        result.terms.update(terms)
    return result


def enrich(document: Document) -> Mapping[str, Any]:
    """Return all that is understood of a document, by the names of the facets."""
    return understand(document).facets


def recipe_of(without: Mapping[str, str] | None = None) -> str:
    """Return the names and versions of all facets, but for those that failed, as a recipe names them.

    Packages that bring languages are named too: ``language-1 names-1 acme-rehi-1.2``.
    """
    facets = [f"{name}-{facet.version}" for name, facet in load_all("facet").items() if name not in (without or {})]
    return " ".join([*facets, *packages("language")])
