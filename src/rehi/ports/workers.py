"""Workers: who works on the catalogue, and who owns what can't be shared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.worker import Worker


class Workers(Protocol):
    """The workers of a catalogue."""

    def sign(self, worker: Worker) -> None:
        """Enter a worker, or its newest sign of life."""

    def workers(self, *, now: datetime) -> Sequence[Worker]:
        """Return all workers, with what each holds, the one seen last first."""

    def own_graph(self, worker: str, *, uri: str, now: datetime, take: bool = False) -> str:
        """Return the worker that owns the embedded graph: this one if none did before, or if it is to take it."""
