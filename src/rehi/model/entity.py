"""An entity: the person, organisation or place behind names."""

from __future__ import annotations

from dataclasses import dataclass

from rehi.model.document import NameKind


@dataclass(frozen=True, slots=True)
class EntityKey:
    """An identity: the kind and the slug of the name, as in ``person/katrin-paio``."""

    kind: NameKind
    slug: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.slug}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What one document says of one entity."""

    key: EntityKey
    name: str
    given: str = ""
    family: str = ""
    lemmas: tuple[str, ...]  # sorted, without repeats; the name and its lower case among them
    count: int  # mentions in the document


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """What all documents together say of one entity."""

    key: EntityKey
    name: str
    given: str = ""
    family: str = ""
    lemmas: tuple[str, ...] = ()
    documents: int = 0  # that mention it now
