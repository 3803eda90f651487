"""Stations: a kind of entities."""

from __future__ import annotations

from rehi.model.kinds import EntityKind

STATION = EntityKind(
    name="station",
    label="Station",
    plural="stations",
    class_iri="http://weather.example/terms#Station",
    name_iri="http://weather.example/terms#stationName",
)
