"""The rules for readings: which version a document shows, and under which name an entity is known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rehi.link import best_name
from rehi.model.work import ReadVersion


def choose_shown(read: Sequence[ReadVersion], before: datetime | None) -> ReadVersion | None:
    """Return which of the versions of a resource that were just read its document shows now; None for none of them.

    It is the newest by time, not by number, unless one that was read ``before`` is newer. What can't be read is shown, too:
    as no document at all.
    """
    newest = max(read, key=lambda version: (version.taken_at, version.number))
    return newest if before is None or newest.taken_at >= before else None


class HouseReadRules:
    """The rules that the pipeline gives to the catalogue when readings are recorded."""

    choose_name = staticmethod(best_name)
    choose_shown = staticmethod(choose_shown)


READ_RULES = HouseReadRules()
