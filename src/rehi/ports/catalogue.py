"""The catalogue: all that is known, behind several ports."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from rehi.ports.frontier import Frontier
from rehi.ports.index import Index
from rehi.ports.knowledge import Knowledge
from rehi.ports.ledger import Ledger
from rehi.ports.outbox import Outbox
from rehi.ports.retention import Retention
from rehi.ports.sources import Sources
from rehi.ports.workers import Workers


class Catalogue(Sources, Frontier, Ledger, Retention, Outbox, Knowledge, Workers, Index, Protocol):
    """The engine behind them all: state that outlives any worker."""

    def clock(self) -> datetime:
        """Return the time by the engine's own clock, which all workers share."""

    def check(self) -> str:
        """Return one line on the engine: its name and version. EngineError if it does not answer."""

    def close(self) -> None:
        """Give everything back."""
