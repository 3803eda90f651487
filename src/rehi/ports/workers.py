"""Workers: who works on the catalogue, who owns what can't be shared, and the updates that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.listing import Page
from rehi.model.update import Update, UpdateKind, UpdateState
from rehi.model.worker import Worker


class Workers(Protocol):
    """The workers of a catalogue, and the table of updates for which their visits count."""

    def sign(self, worker: Worker) -> None:
        """Enter a worker, or its newest sign of life."""

    def workers(self, *, now: datetime) -> Sequence[Worker]:
        """Return all workers, with what each holds, the one seen last first."""

    def own_graph(self, worker: str, *, uri: str, now: datetime, take: bool = False) -> str:
        """Return the worker that owns the embedded graph: this one if none did before, or if it is to take it."""

    def begin_update(self, kind: UpdateKind, *, worker: str, due: int | None = None, now: datetime) -> Update:
        """Open a row, and return it; those that this worker left open are closed as stopped.

        All that is due now is to be visited for it, unless it is said how many pages are.
        """

    def change_update(
        self,
        update_id: int,
        *,
        worker: str = "",
        seconds: Mapping[str, float] | None = None,
        state: UpdateState | None = None,
        now: datetime,
    ) -> None:
        """Add time that a worker has spent by stage, and close the row with a state, if one is given; the first one holds.

        NotFound if there is no such row.
        """

    def updates(self, page: Page, *, running: bool = False) -> tuple[Sequence[Update], int]:
        """Return updates, all or those that run, the newest first, and how many there are in all."""
