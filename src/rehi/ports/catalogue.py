"""The catalogue: all that is known, behind ten ports."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from rehi.ports.keeping import Captures, Inventory, Ledger, Outbox, Stock
from rehi.ports.looking import Index
from rehi.ports.visiting import Frontier, Hosts, Sources, Updates


class Catalogue(Sources, Frontier, Hosts, Updates, Ledger, Outbox, Index, Captures, Inventory, Stock, Protocol):
    """The engine behind the ten: state that outlives any worker."""

    def clock(self) -> datetime:
        """The time by the engine's own clock, which all workers share."""

    def check(self) -> str:
        """One line on the engine: its name and version. EngineError if it does not answer."""

    def close(self) -> None:
        """Give everything back."""
