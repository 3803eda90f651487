"""Parts that can be loaded, and then fail."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyoxigraph import Triple

from rehi.enrich import SilentFacet
from rehi.model.document import Document
from rehi.ports import DescribedPage, GraphChange, GraphContext


class FailingFacet(SilentFacet):
    """Fails for every document."""

    name = "failing"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> Any:
        """Fail."""
        raise ZeroDivisionError("nothing can be known")


class FailingState(SilentFacet):
    """Finds something, and can't say it."""

    name = "failing_state"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> int:
        """Count, but end the whole process if a document asks for it."""
        if "deadly" in document.text:
            os._exit(3)
        return len(document.text)

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """Fail."""
        raise LookupError("no words for it")


class FailingTopic:
    """Fails for every resource."""

    follows = "resource"

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Fail."""
        raise OSError("nothing to say")


class LonelyTopic(FailingTopic):
    """Follows nothing, so that it would never be told of anything."""

    follows = ""


FACET = FailingFacet()
STATE = FailingState()
TOPIC = FailingTopic()
LONELY = LonelyTopic()
