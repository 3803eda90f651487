"""A captured visit: what a crawl made elsewhere has brought from a URL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rehi.model.visit import Answer, Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedVisit:
    """One visit of a crawl made elsewhere, before it is known whether its bytes are here already."""

    url: str
    at: datetime
    answer: Answer  # of one that repeats another, without the body
    where: int  # in the file, for those who look for it
    redirect_to: str = ""
    repeats: bool = False  # its body lies in another record
    unmodified: bool = False  # the server said that nothing had changed since the visit before
    digest: tuple[str, bytes] | None = None  # of the body, as the crawl declares it: an algorithm's name and the value
    refers_to: tuple[str, datetime] | None = None  # the visit that it says it repeats
    member: tuple[int, int] | None = None  # offset and length of its record, if that can be read where it lies

    @property
    def key(self) -> tuple[str, datetime]:
        """The URL and the moment, by which two records are of the same visit."""
        return self.url, self.at

    def as_visit(self) -> Visit:
        """Return it as if it had been made here."""
        return Visit(url=self.url, started_at=self.at, seconds=0.0, answer=self.answer)
