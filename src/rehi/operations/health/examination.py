"""An examination: all parts of the house looked at, quickly or surely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from rehi.app import House
from rehi.app.embedded import embedded_catalogue
from rehi.errors import CatalogueLost, DataFolderBusy, RehiError
from rehi.operations.health import archive, catalogue, derived, graph
from rehi.operations.health.ailment import Ailment, HousePart
from rehi.operations.health.catalogue import Seen

_OTHERS = (HousePart.ARCHIVE, HousePart.DERIVED, HousePart.GRAPH)
Deep = Annotated[bool, Field(description="Read everything, which takes its time.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was seen of one part."""

    part: HousePart
    seen: str
    ailments: tuple[Ailment, ...] = ()
    in_part: bool = False  # whether something was left out that should have been looked at: it is not said to be well

    @property
    def is_well(self) -> bool:
        """Whether nothing ails it."""
        return not self.ailments


def examine(house: House, *, deep: bool) -> Iterator[Examination]:
    """Yield what is seen of each part; the catalogue knows of all others, and is the first. None is made by looking."""
    first = _look(HousePart.CATALOGUE, house, deep=deep)
    yield first
    file = embedded_catalogue(house.settings)
    if file is not None and file.why_gone():
        lost = not first.is_well
        why = "not looked at: the catalogue is lost" if lost else "nothing is there yet"
        yield from (Examination(part=part, seen=why, in_part=lost) for part in _OTHERS)
        return
    for part in _OTHERS:
        try:
            yield _look(part, house, deep=deep)
        except Exception:  # a damaged catalogue may answer whatever it likes; what is damaged has been said by now
            if first.is_well:
                raise
            yield Examination(part=part, seen="not looked at: the catalogue is damaged", in_part=True)


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
        seen = looks[part](house, deep=deep)
    except DataFolderBusy:
        busy = "not looked at: its files are just being written anew; look again later"
        return Examination(part=part, seen=busy, in_part=True)
    except CatalogueLost:  # which was said of the catalogue itself
        return Examination(part=part, seen="not looked at: the catalogue is lost", in_part=True)
    except RehiError as error:  # a damaged catalogue may refuse whatever is asked
        seen = Seen("", [Ailment(part=HousePart.CATALOGUE, subject="", why=str(error))])
    # Where the folder lies on this machine is nobody's business elsewhere, and whoever is here knows it.
    place = f"{house.settings.data.resolve()}/"
    listed = tuple(replace(ailment, why=ailment.why.replace(place, "")) for ailment in seen.ailments)
    return Examination(part=part, seen=seen.words.replace(place, ""), ailments=listed, in_part=seen.in_part)
