"""Generation: which graph the catalogue's work was written to, and whether all of it is there."""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import Protocol

from rehi.model.generation import GraphMark, GraphRecord


class Generation(Protocol):
    """The catalogue's side of the mark that the graph bears."""

    def graph_record(self, topics: Collection[str] = (), followers: Collection[str] = ()) -> GraphRecord:
        """Return what is known of the graph. What is left of a rewriting is counted, if there is one.

        That is what was put there of these topics before it began, and all that waits of those that follow them.
        """

    def begin_graph(self, mark: GraphMark, *, rewrite: str = "", owner: str = "") -> bool:
        """Note which graph is written from now on; not if an owner is given and the graph is another's. Return whether it was.

        With a reason, it is written again: whatever is in the outbox by now belongs to that.
        """

    def untold(self, kind: str, subjects: Collection[int] | None = None) -> Set[int]:
        """Return those of the subjects of which the graph must still be told something; of all, if none are given."""

    def end_rewrite(self, mark: GraphMark) -> bool:
        """Note that the graph is whole again; not if another generation is written by now. Return whether it was."""
