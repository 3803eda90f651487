"""A generation: which graph it is, and how much was written to it, as graph and catalogue both note it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMark:
    """What a graph and the catalogue know each other by."""

    generation: str  # drawn by lot when a graph is begun
    batch: int  # how many batches were written to it


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRecord:
    """What the catalogue knows of the graph."""

    mark: GraphMark | None  # None before a graph was begun, and in catalogues from before there were marks
    rewriting: str = ""  # why all of it is being written again; empty if it is not
    left: int = 0  # what is still to be written of that
    statements: int = 0  # that documents have in the graph, counted only where there is no mark
    owner: str = ""  # the worker in whose folder an embedded graph lies; empty if nobody ever owned one


class GraphCondition(StrEnum):
    """What a graph is to the catalogue."""

    WHOLE = "whole"
    MISSING = "missing"  # it is not there, or was begun as an empty one
    OLDER = "older"  # it lacks batches that were written
    OTHER = "other"  # it is another catalogue's, or from before this catalogue was made or brought back
