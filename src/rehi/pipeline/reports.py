"""Reports: what a worker tells those who look after it: that it lives, and for which update its visits count."""

from __future__ import annotations

import os
import socket
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from rehi import __version__
from rehi.model.update import RUNNING, Update, UpdateKind, UpdateState, open_update
from rehi.model.worker import Worker
from rehi.pipeline.rooms import Progress, Rooms

_LOOK_SECONDS = 1.0
_WRITE_SECONDS = 10.0
_WHOLE = (UpdateKind.ORDERED, UpdateKind.SCHEDULED)  # which end when everything has been visited


class Rounds:
    """One row for a harvest; or one for each day, and others in between when somebody orders an update.

    With each look at it the worker says that it lives.
    """

    def __init__(self, rooms: Rooms, progress: Progress, *, on_change: Callable[[], None] = lambda: None) -> None:
        self._rooms, self._progress = rooms, progress
        self._on_change = (
            on_change  # called when another update is begun with: what it has made due was not looked for yet
        )
        self._kind = UpdateKind.DAY
        self._update: Update | None = None
        self._written: defaultdict[str, float] = defaultdict(float)
        now = self._look_at = self._write_at = rooms.clock()
        self._worker = Worker(
            name=rooms.worker,
            machine=socket.gethostname(),
            process=os.getpid(),
            version=__version__,
            archive=rooms.settings.archive.uri or str(rooms.settings.data.resolve() / "archive"),
            graph=rooms.settings.graph_uri,
            started_at=now,
            seen_at=now,
        )

    def find_update(self) -> int | None:
        """Return the update for which visits count now; asked once per batch, so that one just ordered loses none of its visits."""
        if self._kind is UpdateKind.DAY:
            current = self._open_update()
            if current is not None and _is_current(current, self._rooms.clock()):
                self._change_to(current)
        return self._update.id if self._update else None

    def _open_update(self) -> Update | None:
        running, _ = self._rooms.catalogue.updates(RUNNING, running=True)
        return open_update(running)

    def begin(self, kind: UpdateKind) -> None:
        """Open a row, or go on with the day's."""
        self._kind, now = kind, self._rooms.clock()
        current = self._open_update() if kind is UpdateKind.DAY else None
        if current is not None and _is_current(current, now):
            self._update = current
        else:
            self._update = self._rooms.catalogue.begin_update(kind, worker=self._rooms.worker, now=now)

    def turn(self, *, idle: bool) -> None:
        """Look now and then for an update that somebody has ordered, and end it when there is nothing left to visit."""
        now = self._rooms.clock()
        if now >= self._write_at:
            self._write()
            self._rooms.catalogue.sign(replace(self._worker, seen_at=now))
            self._write_at = now + timedelta(seconds=_WRITE_SECONDS)
        if now < self._look_at:
            return
        self._look_at = now + timedelta(seconds=_LOOK_SECONDS)
        if self._kind is not UpdateKind.DAY:
            return
        if idle and self._update is not None and self._update.kind in _WHOLE:
            self._end(UpdateState.DONE, now)
        current = self._open_update()
        if current is not None and not _is_current(current, now):
            self._rooms.catalogue.change_update(current.id, state=UpdateState.DONE, now=now)
            current = self._open_update()
        if current is None:
            self.begin(UpdateKind.DAY)
        else:
            self._change_to(current)

    def _change_to(self, update: Update) -> None:
        if self._update is None or update.id != self._update.id:
            self._write()
            self._update = update
            self._on_change()

    def end(self, *, finished: bool) -> None:
        """Close a harvest's row; a day's stays open, for whoever works on."""
        self._write()
        if self._kind is not UpdateKind.DAY:
            self._end(UpdateState.DONE if finished else UpdateState.STOPPED, self._rooms.clock())

    def leave(self) -> None:
        """Say that the worker has stopped."""
        now = self._rooms.clock()
        self._rooms.catalogue.sign(replace(self._worker, seen_at=now, ended_at=now))

    def _end(self, state: UpdateState, now: datetime) -> None:
        if self._update is not None:
            self._write()
            self._rooms.catalogue.change_update(self._update.id, state=state, now=now)
            self._update = None

    def _write(self) -> None:
        spent = {
            stage: seconds - self._written[stage]
            for stage, seconds in self._progress.seconds.items()
            if seconds > self._written[stage]
        }
        if spent and self._update is not None:
            self._rooms.catalogue.change_update(
                self._update.id, worker=self._rooms.worker, seconds=spent, now=self._rooms.clock()
            )
            self._written.update(self._progress.seconds)


def _is_current(update: Update, now: datetime) -> bool:
    """Whether visits may count for an update now: a day's row takes those of its own day only."""
    return update.kind is not UpdateKind.DAY or update.started_at.date() == now.date()
