"""The index: documents, entities, hosts and problems as people look at them, and everything in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.holdings import Holdings
from rehi.model.host import HostFacts, HostRow
from rehi.model.listing import DocumentFilter, DocumentRow, EntityRow, Outline, Page, Totals
from rehi.model.problem import Problem, ProblemClass, Stage


class Index(Protocol):
    """What people look at. It changes nothing."""

    def totals(self, *, now: datetime) -> Totals:
        """Return the state of the whole house in numbers."""

    def holdings(self, *, limit: int) -> Holdings:
        """Return what the archive holds, in all and by type and host; at most ``limit`` of each, the largest first."""

    def documents(self, where: DocumentFilter, page: Page) -> tuple[Sequence[DocumentRow], int]:
        """Return a page of resources in the order of their URLs, and how many match in all."""

    def document(self, which: int | str) -> DocumentRow:
        """Return the resource with an id or a URL; NotFound if there is none."""

    def outline(self, resource_id: int) -> Outline:
        """Return the entities, parts and tables of the document that a resource shows; none if it shows none."""

    def find_entities(self, name: str, page: Page, *, kind: str = "") -> Sequence[EntityRow]:
        """Return entities of a kind, or of all, of which a name or lemma begins so, in any case, the most mentioned first."""

    def hosts(self, name: str, page: Page) -> tuple[Sequence[HostRow], int]:
        """Return hosts with this in their names, those in trouble first, and how many there are in all."""

    def host(self, name: str, *, now: datetime) -> Sequence[HostFacts]:
        """Return all that is known of the origins of a host (http and https, other ports); NotFound if there is none."""

    def problems(
        self, *, stage: Stage | None, code: str = "", page: Page
    ) -> tuple[Sequence[Problem], Sequence[ProblemClass]]:
        """Return problems of a room, a code or all, the newest first, and how many the room has, or all, of each code.

        The most frequent code comes first.
        """
