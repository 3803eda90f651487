"""What people look at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.entity import Entity, EntityKey
from rehi.model.listing import DocumentFilter, DocumentRow, EntityRow, NameOnPage, Page, Totals
from rehi.model.problem import Problem, ProblemClass, Stage


class Index(Protocol):
    """What people look at."""

    def totals(self, *, now: datetime) -> Totals:
        """The state of the whole house in numbers."""

    def documents(self, where: DocumentFilter, page: Page) -> tuple[Sequence[DocumentRow], int]:
        """A page of resources in the order of their URLs, and how many match in all."""

    def document(self, resource_id: int) -> DocumentRow:
        """One resource; NotFound if there is none."""

    def resource_id(self, url: str) -> int:
        """The resource of a URL; NotFound if there is none."""

    def names_on(self, resource_id: int) -> Sequence[NameOnPage]:
        """The entities of a document, the most mentioned first."""

    def find_entities(self, name: str, page: Page, *, kind: str = "") -> Sequence[EntityRow]:
        """Return entities of a kind, or of all, of which a name or lemma begins so, in any case, the most mentioned first."""

    def entity(self, key: EntityKey) -> Entity:
        """One entity; NotFound if no document mentions it."""

    def problems(self, *, stage: Stage | None, code: str = "", page: Page) -> tuple[Sequence[Problem], int]:
        """Problems of a room, a code or all, the newest first, and how many there are in all."""

    def problem_classes(self, *, stage: Stage | None) -> Sequence[ProblemClass]:
        """How many problems there are of each code in each room, the most frequent first."""
