"""The room that describes what was found as statements, and asks them back."""

from __future__ import annotations

from rehi.graph.description import describe_entities, describe_resources, describe_vocabulary
from rehi.graph.query import QueryKind, kind_of, prepare
from rehi.graph.results import choose, media_type_for

__all__ = [
    "QueryKind",
    "choose",
    "describe_entities",
    "describe_resources",
    "describe_vocabulary",
    "kind_of",
    "media_type_for",
    "prepare",
]
