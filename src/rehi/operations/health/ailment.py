"""An ailment: what is not as it should be in one part of the house, and the cure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MEND = "rehi doctor --mend"


class HousePart(StrEnum):
    """A part of the house that can be damaged, and mended by itself."""

    CATALOGUE = "catalogue"
    ARCHIVE = "archive"
    INDEX = "index"  # the CDXJ files beside the archive's files
    DERIVED = "derived"
    GRAPH = "graph"


CURES = {
    HousePart.CATALOGUE: f"stop the harvest and run `{MEND}`: what can be read is kept, the rest comes from the archive",
    HousePart.ARCHIVE: f"bring the file back from a copy; without one, `{MEND}` lists what is lost by URL and version",
    HousePart.INDEX: f"`{MEND}` makes the index again from the file",
    HousePart.DERIVED: f"`{MEND}` reads the documents again from the archive",
    HousePart.GRAPH: f"`{MEND}` or the next harvest writes it again from the catalogue",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ailment:
    """Something that is not as it was written."""

    part: HousePart
    subject: str  # a file, a table, a document's URL
    why: str
    row: int | None = None  # of a table, or the id of a reading

    @property
    def cure(self) -> str:
        """What to do about it."""
        return CURES[self.part]
