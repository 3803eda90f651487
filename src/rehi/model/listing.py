"""Rows that people and programs look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from rehi.model.document import Part, TableShape, Term
from rehi.model.entity import EntityKey


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """A resource as a list shows it."""

    resource_id: int
    url: str
    host: str
    state: str  # the last Outcome, or "waiting"
    status: int
    title: str
    media_type: str
    language: str
    versions: int
    names: int
    visited_at: datetime | None
    changed_at: datetime | None
    redirect_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRow:
    """An entity as a list shows it."""

    id: int  # which stays, whatever it is called
    key: EntityKey
    name: str
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NameOnPage:
    """An entity on one document."""

    key: EntityKey
    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What is in a document."""

    names: tuple[NameOnPage, ...]  # the most mentioned first
    parts: tuple[Part, ...]
    tables: tuple[TableShape, ...]


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """What to list: all documents, or those that match every field that is given."""

    host: str = ""  # a part of the host's name
    media_type: str = ""
    language: str = ""
    text: str = ""  # a part of the title or the URL
    source_id: int | None = None
    entity: EntityKey | None = None
    terms: tuple[Term, ...] = ()  # that facets have put into the index


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list to show."""

    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The state of the whole house in numbers."""

    sources: int
    hosts: int
    resources: int
    waiting: int  # due now, not visited yet or again
    visits: int
    versions: int
    documents: int
    entities: Mapping[str, int]  # by kind
    mentions: int
    bytes_seen: int  # the sizes of all versions
    problems: int
    to_read: int  # versions in the outbox
    to_describe: int  # graph changes in the outbox
    outcomes: Mapping[str, int]  # resources by state
    media_types: Mapping[str, int]  # documents by type
    languages: Mapping[str, int]
    recipes: Mapping[str, int]  # documents by what has read them; empty for one of before there were recipes
