"""A dialect: the statements and settings in which SQLite and PostgreSQL differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Connection, Engine

from rehi.engines.sql.tables.hosts import GROUP_IS_FREE
from rehi.errors import UserError

# A URL that may be new: host id, URL, tail, source id, due, hops. A plain tuple, as drivers want it: there are millions.
NewResource = tuple[int, str, str, int | None, int | None, int]


class NewUrls(NamedTuple):
    """URLs of a source in their order, by columns: of a log's millions no row is made that is not needed."""

    host_ids: Sequence[int]
    urls: Sequence[str]
    tails: Sequence[str]


class Guarded(Enum):
    """An action that only one transaction at a time may take."""

    SCHEMA = "schema"  # make or change tables
    REDIRECTS = "redirects"  # look for circles of redirects
    CLAIMS = "claims"  # claim work, so that no subject is claimed by two


class Dialect(Protocol):
    """The statements and settings in which databases differ, and the statements that must be fastest."""

    name: str  # as people write it
    slots: int  # into which tallies are split, so that writers don't wait for each other
    foreign: tuple[type[Exception], ...]  # the errors that the driver raises where it is used directly
    ready_hosts: str  # the query for hosts that are ready and not leased (see READY), which locks them until the end
    url_order: ColumnElement[Any]  # by which an index orders URLs
    snapshot: Mapping[str, Any]  # the options of a transaction that sees everything as it is at its beginning

    def engine(self) -> Engine:
        """Return SQLAlchemy's engine, which makes connections when they are needed."""

    def where(self) -> str:
        """Return the database's address, without a password."""

    def error(self, cause: BaseException) -> UserError:
        """Return an error of the database as one of ours, in one sentence."""

    def may_retry(self, cause: BaseException) -> bool:
        """Whether the same transaction can succeed if it is run again."""

    def may_open_later(self, cause: BaseException) -> bool:
        """Whether a database that was away when it was to be opened may be there later: nothing is wrong with its address."""

    def clock(self, connection: Connection) -> datetime:
        """Return the time by the database's own clock."""

    def turn(self, *, urgent: bool) -> AbstractContextManager[None]:
        """Wait for the turn to write and hold it, where only one transaction at a time can write."""

    def written(self, *, lasting: bool) -> None:
        """Make sure that a committed transaction lasts, if it must, and begin upkeep that is done now and then."""

    def close(self) -> None:
        """Wait for upkeep that is under way."""

    def guard(self, connection: Connection, action: Guarded) -> None:
        """Let only one transaction at a time do something, where several write at once."""

    def insert_resources(self, connection: Connection, rows: Sequence[NewResource]) -> int:
        """Enter the URLs that are new, and return how many were."""

    def insert_findings(
        self, connection: Connection, urls: NewUrls, *, source_id: int, at: int, since: int, claims: Mapping[str, str]
    ) -> tuple[int, Sequence[int]]:
        """Enter the URLs that are new, due now, and all of them as findings of a source, with its claims by URL.

        Of findings that are there already, those are changed that were last made before ``since``, or claim something else.
        Returns how many URLs were new, and which resources were known, but not to this source.
        """

    def load_rows(
        self, connection: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Enter rows with all their values into an empty table, and go on with new ids after theirs."""

    def due_tasks(self, connection: Connection, hosts: Sequence[int], *, now: int, limit: int) -> Sequence[Any]:
        """Return up to ``limit`` due resources of each host, the longest due first."""

    def url_in(self, urls: Sequence[str]) -> ColumnElement[bool]:
        """Return the condition that a resource's URL is one of these."""

    def url_key(self, url: str) -> str:
        """Return the value by which ``url_order`` orders a URL."""

    def holds(self, haystack: ColumnElement[str], needle: str) -> ColumnElement[bool]:
        """Return the condition that a text contains the needle, taken literally."""


# Columns of a due task; ``due_tasks`` of each dialect selects exactly these.
TASK_COLUMNS = """r.host_id, r.id, r.source_id, r.url, r.etag, r.last_modified, r.failures, r.hops,
    r.media_type, r.failing_since, r.visited_at, r.history, b.digest, f.name AS file, b."offset", b.length, b.dropped_at"""
TASK_JOINS = "LEFT JOIN blob b ON b.id = r.blob_id LEFT JOIN file f ON f.id = b.file_id"
READY = f"""SELECT id, pace_group, leases FROM host WHERE ready_at <= :now AND lease_until <= :now AND {GROUP_IS_FREE}
    ORDER BY ready_at, id LIMIT :limit"""  # noqa: S608
