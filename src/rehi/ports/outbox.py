"""The outbox: work that a committed change has caused, claimed by whoever does it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.work import Claim


class Outbox(Protocol):
    """Work by kind and subject. What is claimed is nobody else's until it is finished, given back or too old."""

    def put(self, kind: str, subjects: Iterable[int]) -> int:
        """Put work into the outbox, and return how much.

        Always as new rows, since somebody may be busy with what was there before.
        """

    def claim(
        self,
        kinds: Collection[str],
        *,
        worker: str,
        limit: int,
        ttl: float,
        now: datetime,
        files: Collection[str] = (),
        subjects: Collection[int] | None = None,
        retake: bool = False,
    ) -> Sequence[Claim]:
        """Return work that nobody else gets until ``ttl``, the oldest first; each subject once, with all its rows.

        Work on some subjects only, if they are given. With ``retake`` also what this worker has claimed before, as by a
        process of it that is known to have ended.

        A source that waits for a visit is there once its URL was visited. A subject of which a part is with somebody is left to them. Work on bytes is given to the worker in whose folder
        they lie, and to others only if the file is one of ``files``.
        """

    def renew_claims(self, claims: Sequence[Claim], *, worker: str, ttl: float, now: datetime) -> Sequence[Claim]:
        """Keep claims for longer, and return those that are this worker's still."""

    def finish(self, claims: Sequence[Claim]) -> None:
        """Take work out of the outbox: it is done."""

    def waiting_files(self, *, worker: str, limit: int) -> Mapping[str, str]:
        """Return files with bytes that wait to be read and lie in the folders of other workers, with these workers' names."""
