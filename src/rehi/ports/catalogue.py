"""The catalogue: all that is known, behind several ports."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from rehi.ports.keeping import Captures, Inventory, Ledger, Stock
from rehi.ports.knowledge import Knowledge
from rehi.ports.looking import Index
from rehi.ports.outbox import Outbox
from rehi.ports.sources import Sources
from rehi.ports.visiting import Frontier, Hosts, Updates
from rehi.ports.workers import Workers


class Catalogue(
    Sources, Frontier, Hosts, Updates, Ledger, Outbox, Knowledge, Workers, Index, Captures, Inventory, Stock, Protocol
):
    """The engine behind them all: state that outlives any worker."""

    def clock(self) -> datetime:
        """The time by the engine's own clock, which all workers share."""

    def check(self) -> str:
        """One line on the engine: its name and version. EngineError if it does not answer."""

    def close(self) -> None:
        """Give everything back."""
