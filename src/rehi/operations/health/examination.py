"""An examination: all parts of the house looked at, quickly or surely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from rehi.app import House
from rehi.errors import DataFolderBusy, RehiError
from rehi.operations.health import archive, catalogue, derived, graph
from rehi.operations.health.ailment import Ailment, HousePart

Deep = Annotated[bool, Field(description="Read everything, which takes its time.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was seen of one part."""

    part: HousePart
    seen: str
    ailments: tuple[Ailment, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether nothing ails it."""
        return not self.ailments


def examine(house: House, *, deep: bool) -> Iterator[Examination]:
    """Yield what is seen of each part; the catalogue knows of all others, and is the first."""
    first = _look(HousePart.CATALOGUE, house, deep=deep)
    yield first
    for part in (HousePart.ARCHIVE, HousePart.DERIVED, HousePart.GRAPH):
        try:
            yield _look(part, house, deep=deep)
        except Exception:  # a damaged catalogue may answer whatever it likes; what is damaged has been said by now
            if first.is_well:
                raise
            yield Examination(part=part, seen="not looked at: the catalogue is damaged")


def examine_house(house: House, *, deep: Deep = False) -> list[Examination]:
    """Look at all parts, and return what was seen."""
    return list(examine(house, deep=deep))


def _look(part: HousePart, house: House, *, deep: bool) -> Examination:
    looks = {
        HousePart.CATALOGUE: catalogue.examine,
        HousePart.ARCHIVE: archive.examine,
        HousePart.DERIVED: derived.examine,
        HousePart.GRAPH: graph.examine,
    }
    try:
        seen, ailments = looks[part](house, deep=deep)
    except DataFolderBusy:
        return Examination(part=part, seen="not looked at: its files are just being written anew; look again later")
    except RehiError as error:  # a damaged catalogue may refuse whatever is asked
        seen, ailments = "", [Ailment(part=HousePart.CATALOGUE, subject="", why=str(error))]
    # Where the folder lies on this machine is nobody's business elsewhere, and whoever is here knows it.
    place = f"{house.settings.data.resolve()}/"
    listed = tuple(replace(ailment, why=ailment.why.replace(place, "")) for ailment in ailments)
    return Examination(part=part, seen=seen.replace(place, ""), ailments=listed)
