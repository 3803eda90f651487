"""What a mending has done, what is lost for good, and what ails the house still."""

from __future__ import annotations

from dataclasses import dataclass, field

from rehi.operations.health.ailment import Ailment


@dataclass(frozen=True, slots=True, kw_only=True)
class LostVersion:
    """A version of which something can't be brought back."""

    url: str
    at: str  # its time
    number: int | None = None  # where it is known
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRecord:
    """A record without bytes of its own that can't be brought back: a request, a revisit, a redirect."""

    url: str  # empty if nobody knows what stood there
    at: str  # the time of its visit
    kind: str
    file: str
    offset: int  # of the part that is damaged

    def __str__(self) -> str:
        return f"{self.kind} of {self.url} at {self.at}" if self.url else self.kind


@dataclass(slots=True)
class Mended:
    """What was done, what is lost, and what a last deep look has found."""

    done: list[str] = field(default_factory=list)
    lost: list[LostVersion] = field(default_factory=list)
    records: list[LostRecord] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # what only the catalogue knew: how much it was, nobody can say
    ailing: list[Ailment] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost, and nothing ails the house."""
        return not (self.lost or self.records or self.missing or self.ailing)
