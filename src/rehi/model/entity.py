"""An entity: the person, organisation, place or other thing behind names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class EntityKey:
    """What an entity is called in addresses: its kind and a slug that no other of the kind has."""

    kind: str  # an EntityKind's name
    slug: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.slug}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What one document says of one entity, before it is known which entity that is."""

    key: EntityKey  # by which it is entered if there is no such entity yet
    name: str
    given: str = ""
    family: str = ""
    lemmas: tuple[str, ...]  # sorted, without repeats; the name and its lower case among them
    count: int  # mentions in the document


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that an identity may belong to."""

    id: int
    key: EntityKey
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedIdentity:
    """What a document says of an entity, and which entity that is."""

    identity: Identity
    entity_id: int | None = None  # None: a new one, entered under the identity's key


@dataclass(frozen=True, slots=True)
class Form:
    """A name with its parts, or another basic form, under which documents mention an entity."""

    what: str  # "name" or "lemma"
    text: str
    given: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """What all documents together say of one entity."""

    id: int
    key: EntityKey
    name: str
    given: str = ""
    family: str = ""
    lemmas: tuple[str, ...] = ()
    documents: int = 0  # that mention it now
