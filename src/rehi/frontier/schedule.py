"""The schedule: when a resource is due again."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from rehi.errors import Disposition, FetchError
from rehi.settings import FetchSettings

_MOST_DOUBLINGS = 8  # an hour becomes eleven days; after that a page is as rare as an ordinary revisit
_SPREAD = 0.1  # so that pages first seen together don't all come due together


def wait_after_failures(failures: int, *, settings: FetchSettings) -> timedelta:
    """How long to wait after that many failures in a row: doubled each time, never longer than an ordinary revisit."""
    seconds = settings.retry_after * 2 ** min(failures, _MOST_DOUBLINGS)
    return timedelta(seconds=min(seconds, settings.revisit_after))


def next_visit(
    url: str, *, error: FetchError | None, failures: int, now: datetime, settings: FetchSettings
) -> datetime:
    """When to visit again: after a failure soon and ever later, otherwise on the ordinary schedule, spread by URL."""
    if error is not None and error.disposition is Disposition.RETRY:
        return now + wait_after_failures(failures, settings=settings)
    share = int.from_bytes(hashlib.blake2b(url.encode(), digest_size=4).digest(), "big") / 2**32
    return now + timedelta(seconds=settings.revisit_after * (1 + _SPREAD * (share - 0.5)))
