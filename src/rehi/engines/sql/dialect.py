"""A dialect: what SQLite and PostgreSQL must be told in their own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, Engine, Row

from rehi.errors import UserError

# A URL that may be new: host id, URL, tail, source id, due, hops. A plain tuple, as drivers want it: there are millions.
NewResource = tuple[int, str, str, int | None, int | None, int]


class Dialect(Protocol):
    """The hot paths and the differences."""

    name: str  # as people write it
    slots: int  # into which tallies are split, so that writers don't wait for each other

    def engine(self) -> Engine:
        """Connections, made when they are needed."""

    def foreign(self) -> tuple[type[Exception], ...]:
        """What the driver raises where it is used directly."""

    def where(self) -> str:
        """The database's address, without a password."""

    def error(self, cause: BaseException) -> UserError:
        """The database's complaint in one sentence of ours."""

    def may_retry(self, cause: BaseException) -> bool:
        """Whether the same transaction can succeed if it is run again."""

    def guard_schema(self, connection: Connection) -> None:
        """Let only one process at a time make or change tables."""

    def guard_redirects(self, connection: Connection) -> None:
        """Let only one transaction at a time look for circles of redirects."""

    def insert_resources(self, connection: Connection, rows: Sequence[NewResource]) -> int:
        """Enter the URLs that are new; how many were."""

    def ready_hosts(self, connection: Connection, *, now: int, limit: int) -> list[int]:
        """Hosts that are ready and not leased, the longest ready first, locked until the transaction ends."""

    def due_tasks(self, connection: Connection, hosts: Sequence[int], *, now: int, limit: int) -> Sequence[Row[Any]]:
        """Up to ``limit`` due resources of each host, the longest due first."""

    def url_in(self, urls: Sequence[str]) -> ColumnElement[bool]:
        """Whether a resource's URL is one of these."""

    def url_order(self) -> Sequence[ColumnElement[Any]]:
        """The order of URLs, as an index has it."""

    def holds(self, haystack: ColumnElement[str], needle: str) -> ColumnElement[bool]:
        """Whether a text has the needle in it, taken literally."""


# Columns of a due task; ``due_tasks`` of each dialect selects exactly these.
TASK_COLUMNS = """r.host_id, r.id, r.source_id, r.url, r.etag, r.last_modified, r.failures, r.hops,
    b.digest, f.name AS file, b."offset", b.length"""
TASK_BODY = "LEFT JOIN blob b ON b.id = r.blob_id LEFT JOIN file f ON f.id = b.file_id"
