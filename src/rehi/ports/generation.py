"""Generation: which graph the catalogue's work was written to, and whether all of it is there."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from typing import Protocol

from rehi.model.generation import GraphMark, GraphRecord


class Generation(Protocol):
    """The catalogue's side of the mark that the graph bears."""

    def graph_record(self) -> GraphRecord:
        """Return what is known of the graph."""

    def begin_graph(self, mark: GraphMark, *, rewrite: str = "") -> None:
        """Note which graph is written from now on: one that is whole, or one that is written again for a reason.

        With a reason, everything that the graph must be told again is put into the outbox in the same transaction.
        """

    def graph_subjects(self, kind: str, *, after: int, limit: int) -> Sequence[int]:
        """Return subjects of a kind that the graph is told of, in the order of their ids, after one of them."""

    def untold(self, kind: str, subjects: Collection[int]) -> Set[int]:
        """Return those of the subjects of which the graph must still be told something."""
