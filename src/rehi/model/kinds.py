"""The kinds of entities: a table that can grow, each row with the words that people and the graph use for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityKind:
    """What a name can stand for."""

    name: str  # the path segment in identifiers
    label: str
    plural: str
    class_iri: str  # its class in the graph
    name_iri: str = ""  # a further property that holds the name
    has_parts: bool = False  # whether names have given and family parts


_NERD = "http://nerd.eurecom.fr/ontology#"
_NER = "http://www.estner.ee/estnerd#"

PERSON = EntityKind(name="person", label="Person", plural="people", class_iri=f"{_NERD}Person", has_parts=True)
ORGANISATION = EntityKind(
    name="organisation",
    label="Organisation",
    plural="organisations",
    class_iri=f"{_NERD}Organization",
    name_iri=f"{_NER}orgName",
)
PLACE = EntityKind(
    name="place", label="Place", plural="places", class_iri=f"{_NERD}Location", name_iri=f"{_NER}locationName"
)
