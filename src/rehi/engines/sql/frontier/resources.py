"""Resources: the rows of URLs, as a transaction finds, makes, locks and changes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from sqlalchemy import Connection

from rehi.engines.sql.database import Database
from rehi.engines.sql.dialects.dialect import NewResource
from rehi.engines.sql.frontier.hosts import ensure_hosts, origin_of
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.statements.bulk_update import BulkUpdate
from rehi.engines.sql.statements.select_many import SelectMany
from rehi.engines.sql.statements.text import tail_of
from rehi.engines.sql.tables import resource


@dataclass(slots=True)
class ResourceState:
    """A resource's row while a transaction works on it."""

    id: int
    url: str
    host_id: int
    source_id: int | None
    state: str
    due_at: int | None
    status: int
    failures: int
    hops: int
    versions: int
    blob_id: int | None
    digest: str | None
    redirect_to: int | None
    visited_at: int | None
    changed_at: int | None
    media_type: str
    etag: str
    last_modified: str
    failing_since: int | None
    gone_at: int | None
    remarked: int
    history: bytes | None


_CHANGED = {
    "state": "text", "due_at": "bigint", "status": "bigint", "failures": "bigint", "versions": "bigint",
    "blob_id": "bigint", "visited_at": "bigint", "changed_at": "bigint", "media_type": "text", "etag": "text",
    "last_modified": "text", "failing_since": "bigint", "gone_at": "bigint", "remarked": "bigint", "history": "bytea",
}  # fmt: skip
_CHANGE = BulkUpdate(
    resource,
    {"id": "bigint", **_CHANGED},
    {name: f"new.{name}" for name in _CHANGED},
    where="resource.id = new.id",
)
_values_of = attrgetter("id", *_CHANGED)
_COLUMNS = ", ".join(
    "digest" if name == "digest" else f"resource.{name}" for name in ResourceState.__dataclass_fields__
)
_STATES = f"SELECT {_COLUMNS} FROM resource LEFT JOIN blob ON blob.id = resource.blob_id"  # noqa: S608
_BY_ID = SelectMany(_STATES, "resource.id", "bigint", order="resource.id", lock="FOR NO KEY UPDATE OF resource")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A URL that must have a row, and what a new row says."""

    url: str
    source_id: int | None = None
    due_at: int | None = None
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Ensured:
    """URLs that have rows."""

    ids: Mapping[str, int]
    woken: Mapping[int, int]  # by host when its new URLs are due
    new: frozenset[int]  # which nobody else can see yet; empty unless that is certain of all that were missing
    entered: int = 0  # how many have got their rows now


def find_ids(connection: Connection, database: Database, urls: Iterable[str]) -> dict[str, int]:
    """The ids of the URLs that are known."""
    rows = database.dialect.ask_by_url(connection, "SELECT id, url FROM resource", urls)
    return {row.url: row.id for row in rows}


def ensure_resources(
    connection: Connection, database: Database, wanted: Sequence[Wanted], additions: Additions
) -> Ensured:
    """See that URLs have rows; the first of several decides what a new row says."""
    by_url = {want.url: want for want in reversed(wanted)}
    found = find_ids(connection, database, by_url)
    missing = [want for url, want in sorted(by_url.items()) if url not in found]
    if not missing:
        return Ensured(found, {}, frozenset())
    hosts = ensure_hosts(connection, {origin_of(want.url) for want in missing})
    rows: list[NewResource] = [
        (hosts[origin_of(w.url)], w.url, tail_of(w.url), w.source_id, w.due_at, w.hops) for w in missing
    ]
    entered = database.dialect.insert_resources(connection, rows)
    additions.add_to_house("state:waiting", entered)
    new = find_ids(connection, database, [want.url for want in missing])
    own = frozenset(new.values()) if entered == len(rows) else frozenset()
    return Ensured(found | new, {host_id: due for host_id, _, _, _, due, _ in rows if due is not None}, own, entered)


def lock_urls(
    connection: Connection, database: Database, wanted: Sequence[Wanted], additions: Additions
) -> dict[str, ResourceState]:
    """The rows of URLs, which nobody else changes until the transaction ends; those that are new are entered."""
    urls = {want.url for want in wanted}
    found = _lock(connection, database, urls)
    if len(found) < len(urls):
        ensure_resources(connection, database, [want for want in wanted if want.url not in found], additions)
        found |= _lock(connection, database, urls - found.keys())
    return found


def _lock(connection: Connection, database: Database, urls: Iterable[str]) -> dict[str, ResourceState]:
    rows = database.dialect.ask_by_url(connection, _STATES, urls, lock=True)
    return {row.url: ResourceState(*row) for row in rows}


def lock_resources(connection: Connection, ids: Iterable[int]) -> dict[int, ResourceState]:
    """The rows of resources, which nobody else changes until the transaction ends."""
    return {row.id: ResourceState(*row) for row in _BY_ID.run(connection, sorted(set(ids)))}


def write_resources(connection: Connection, states: Iterable[ResourceState]) -> None:
    """Store changed rows; redirects are stored by themselves."""
    _CHANGE.run(connection, list(map(_values_of, states)))
