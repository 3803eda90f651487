"""An outage: an engine that is away, or was, and is waited for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rehi.errors import ReadersAway, RehiError


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """What is away, and since when."""

    code: str  # of the error: "catalogue-away", "graph-away" …
    message: str  # for everybody to see: what the engine answered, with its address, is in the log
    since: datetime
    tries: int = 1  # that were in vain

    @classmethod
    def of(cls, error: RehiError, *, since: datetime) -> Outage:
        """Return the outage that an error tells of."""
        return cls(code=error.code, message=say(error), since=since)


def say(error: RehiError) -> str:
    """Return what is away in a sentence that holds no address and no path."""
    if isinstance(error, ReadersAway):
        return str(error)
    return (type(error).__doc__ or "").partition("\n")[0].rstrip(".")
