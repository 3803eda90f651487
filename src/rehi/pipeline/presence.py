"""Presence: a worker's signs of life, for those who look after all of them."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from datetime import timedelta

from rehi import __version__
from rehi.model.worker import Worker
from rehi.pipeline.rooms import Rooms

SIGN_SECONDS = 10.0


class Presence:
    """What this worker says of itself, now and then."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        now = rooms.clock()
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
        self._sign_at = now

    def sign(self) -> bool:
        """Say that it lives; the catalogue's work is not changed by it."""
        now = self._rooms.clock()
        if now >= self._sign_at:
            self._sign_at = now + timedelta(seconds=SIGN_SECONDS)
            self._rooms.catalogue.sign(replace(self._worker, seen_at=now))
        return False

    def leave(self) -> None:
        """Say that it has stopped."""
        now = self._rooms.clock()
        self._rooms.catalogue.sign(replace(self._worker, seen_at=now, ended_at=now))
