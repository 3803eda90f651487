"""Generation: which graph the catalogue's work was written to, and whether all of it is there."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from typing import Protocol

from rehi.model.generation import GraphMark, GraphRecord


class Generation(Protocol):
    """The catalogue's side of the mark that the graph bears."""

    def graph_record(self, topics: Collection[str] = ()) -> GraphRecord:
        """Return what is known of the graph; what is left of a rewriting is counted for these topics."""

    def begin_graph(self, mark: GraphMark, *, rewrite: str = "", owner: str = "") -> bool:
        """Note which graph is written from now on; not if an owner is given and the graph is another's. Return whether it was.

        With a reason, everything that the graph must be told again is put into the outbox in the same transaction.
        """

    def graph_subjects(self, kind: str, *, after: int, limit: int) -> Sequence[int]:
        """Return subjects of a kind that the graph is told of, in the order of their ids, after one of them."""

    def untold(self, kind: str, subjects: Collection[int]) -> Set[int]:
        """Return those of the subjects of which the graph must still be told something."""

    def end_rewrite(self, mark: GraphMark) -> bool:
        """Note that the graph is whole again; not if another generation is written by now. Return whether it was."""
