"""An entity: the person, organisation, place or other thing behind names."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SENSE = re.compile("[2-9]|[1-9][0-9]{1,8}")  # of all that bear a name but the first


@dataclass(frozen=True, slots=True, order=True)
class EntityKey:
    """What an entity is called in addresses: its kind, the slug of its name, and which one of that name it is."""

    kind: str  # an EntityKind's name
    slug: str
    sense: int = 1  # 2 for the second of the same kind and name, which is another one

    @property
    def path(self) -> str:
        """What follows the kind in an address: ``katrin-paio``, and for the second of that name ``katrin-paio/2``."""
        return self.slug if self.sense == 1 else f"{self.slug}/{self.sense}"

    def __str__(self) -> str:
        return f"{self.kind}/{self.path}"


def parse_key(kind: str, path: str) -> EntityKey:
    """Return the key of a kind and what follows it in an address."""
    slug, _, sense = path.rpartition("/")
    if slug and _SENSE.fullmatch(sense):
        return EntityKey(kind, slug, int(sense))
    return EntityKey(kind, path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What one document says of one entity, before it is known which entity that is."""

    key: EntityKey  # by which it is entered if there is no such entity yet
    name: str
    given: str = ""
    family: str = ""
    lemmas: tuple[str, ...]  # sorted, without repeats; the name and its lower case among them
    count: int  # mentions in the document


@dataclass(frozen=True, slots=True, order=True)
class Identifier:
    """A record of an authority about an entity, as somebody linked it."""

    iri: str  # of the record
    score: float = 1.0  # how sure that is; 1 for the same thing


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that an identity may belong to."""

    id: int
    key: EntityKey
    name: str
    sense: int = 1  # under which the name that was asked for knows it; merged into another, its key is that one's


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedIdentity:
    """What a document says of an entity, and which entity that is."""

    identity: Identity
    entity_id: int | None = None  # None: one entered under the identity's key; another one of a name has its next sense
    identifiers: tuple[Identifier, ...] = ()  # of authorities' records about it, added to those that are known


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
    identifiers: tuple[Identifier, ...] = ()  # of authorities' records, in their order
