"""Enrich: what is understood of a document's text."""

from __future__ import annotations

from rehi.enrich.language import identify
from rehi.enrich.names import find_names
from rehi.model.document import Annotations, Document


def enrich(document: Document) -> Annotations:
    """The language of a document's text, and the names in it."""
    code = identify(document.text, document.language)
    return Annotations(language=code, mentions=find_names(document.text, code))
