"""The published graph: the newest checkpoint of a graph that another process writes, for queries only."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from rehi.engines.oxigraph import checkpoints
from rehi.engines.oxigraph.readers import OxigraphReaders
from rehi.errors import EngineError
from rehi.ports import GraphChange, QueryAnswer, QueryLimits


class PublishedGraph:
    """Port ``Graph`` for queries only, on the newest checkpoint in a graph's folder."""

    shared = False  # it lies in a folder of one machine

    def __init__(self, folder: Path, *, base: str, workers: int = 2) -> None:
        self._folder = folder
        self._checkpoints = folder / "checkpoints"
        self._readers = OxigraphReaders(self._checkpoints, base=base, workers=workers)

    def write(self, changes: Sequence[GraphChange]) -> None:
        """Raise EngineError: only the one writer writes."""
        raise EngineError(f"the graph in {self._folder} was opened for queries only")

    def publish(self) -> None:
        """Do nothing: nothing can have been written here."""

    def query(self, text: str, *, media_type: str, limits: QueryLimits) -> QueryAnswer:
        """Answer a query on the newest checkpoint, over the union of all graphs."""
        return self._readers.query(text, media_type=media_type, limits=limits)

    def size(self) -> int:
        """Return the number of published triples."""
        if not checkpoints.numbers(self._checkpoints):
            return 0
        answer = self.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", media_type="text/csv", limits=QueryLimits())
        return int(b"".join(answer.chunks).split()[1])

    def check(self) -> str:
        """Return one line on the engine and its size."""
        return f"Oxigraph {version('pyoxigraph')}, {self.size():,} statements published in {self._folder}"

    def close(self) -> None:
        """End the reader processes."""
        self._readers.close()
