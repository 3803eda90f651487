"""A tally: what an export has written and left out so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rehi.errors import RehiError
from rehi.model.capture import Capture

_NAMED = 20  # captures that could not be read, with their reasons


@dataclass(slots=True)
class Exported:
    """How much was written, and what had to be left out."""

    captures: int = 0
    counts: Counter[str] = field(default_factory=Counter)  # captures by kind: whole, revisits, redirects
    bytes: int = 0  # of the files in the export
    files: list[str] = field(default_factory=list)  # that hold the captures; only the first ones if there are many
    dropped: int = 0  # left out, since a rule has dropped their bytes
    unreadable: int = 0  # left out, since they are damaged or not here
    reasons: list[str] = field(default_factory=list)  # of the first of those

    def leave_out(self, capture: Capture, error: RehiError | None = None) -> None:
        """Count a capture that is not in the export: unreadable if there is an error, else dropped."""
        if error is None:
            self.dropped += 1
            return
        self.unreadable += 1
        if len(self.reasons) < _NAMED:
            self.reasons.append(f"{capture.url} of {capture.at:%Y-%m-%d %H:%M:%S}: {error}")
