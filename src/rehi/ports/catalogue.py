"""The catalogue: all that is known, behind several ports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from rehi.ports.frontier import Frontier
from rehi.ports.generation import Generation
from rehi.ports.index import Index
from rehi.ports.knowledge import Knowledge
from rehi.ports.ledger import Ledger
from rehi.ports.outbox import Outbox
from rehi.ports.retention import Retention
from rehi.ports.sources import Sources
from rehi.ports.workers import Workers

DumpedFiles = Iterable[tuple[str, Iterable[bytes]]]  # names of files, and the bytes of each in pieces


class Catalogue(Sources, Frontier, Ledger, Retention, Outbox, Knowledge, Generation, Workers, Index, Protocol):
    """The engine behind them all: state that outlives any worker."""

    def clock(self) -> datetime:
        """Return the time by the engine's own clock, which all workers share."""

    def check(self) -> str:
        """Return one line on the engine: its name and version. EngineError if it does not answer."""

    def dump(self) -> AbstractContextManager[Iterator[tuple[str, Iterator[bytes]]]]:
        """Dump all that is known at this moment as files, in pieces that stay the same where nothing has changed."""

    def load_dump(self, files: DumpedFiles) -> None:
        """Load a dump of this version or an older one; EngineError if the catalogue is not empty."""

    def close(self) -> None:
        """Close the engine: its connections and files."""
