"""The facet of weather: what the sky does at the stations of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from rehi.enrich import SilentFacet
from rehi.model.document import Document, Term
from rehi.ports import DescribedPage

VOCABULARY = "http://weather.example/terms#"


@dataclass(frozen=True, slots=True)
class Weather:
    """The coldest station, and every kind of sky that was seen."""

    coldest: str
    degrees: int
    skies: tuple[str, ...]


class WeatherFacet(SilentFacet):
    """Knows weather reports, and has nothing to say of anything else."""

    name = "weather"
    version = 2

    def find(self, document: Document, facets: Mapping[str, Any]) -> Weather | None:
        """Read the first table of a report."""
        if document.media_type != "application/vnd.weather":
            return None
        table = document.tables[0]
        rows = [line.split("|") for line in document.text[table.start : table.end].splitlines()[1:]]
        coldest = min(rows, key=lambda row: int(row[1]))
        return Weather(coldest[0], int(coldest[1]), tuple(sorted({row[2] for row in rows})))

    def encode(self, value: Weather) -> dict[str, Any]:
        """All fields."""
        return asdict(value)

    def decode(self, data: dict[str, Any], version: int) -> Weather:
        """The first version knew no skies."""
        return Weather(data["coldest"], data["degrees"], tuple(data.get("skies", ())))

    def brief(self, value: Weather) -> dict[str, Any]:
        """What the graph needs."""
        return {"coldest": value.coldest, "degrees": value.degrees}

    def terms(self, value: Weather) -> Iterable[Term]:
        """Reports are found by their skies."""
        return [Term(field="sky", value=sky) for sky in value.skies]

    def show(self, value: Weather) -> Iterable[tuple[str, str]]:
        """A line on the page."""
        return [("Coldest", f"{value.coldest}, {value.degrees} °C")]

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """How cold it was."""
        if brief is not None:
            yield Triple(page.iri, NamedNode(f"{VOCABULARY}coldest"), Literal(brief["degrees"]))


FACET = WeatherFacet()
