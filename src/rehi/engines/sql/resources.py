"""Resources: the rows of URLs, as a transaction finds, makes, locks and changes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from rehi.engines.sql.database import Database, gather, run_many
from rehi.engines.sql.dialect import NewResource
from rehi.engines.sql.hosts import ensure_hosts, origin_of
from rehi.engines.sql.schema import blob, resource
from rehi.engines.sql.tally import Additions
from rehi.engines.sql.text import tail_of


@dataclass(slots=True, kw_only=True)
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


_CHANGED = (
    "state", "due_at", "status", "failures", "versions", "blob_id", "visited_at", "changed_at", "media_type", "etag",
    "last_modified",
)  # fmt: skip
_UPDATE = update(resource).where(resource.c.id == bindparam("row")).values({name: bindparam(name) for name in _CHANGED})
_COLUMNS = [resource.c[name] for name in ResourceState.__dataclass_fields__ if name != "digest"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A URL that must have a row, and what a new row says."""

    url: str
    source_id: int | None = None
    due_at: int | None = None
    hops: int = 0


def find_ids(connection: Connection, database: Database, urls: Iterable[str]) -> dict[str, int]:
    """The ids of the URLs that are known."""
    query = select(resource.c.id, resource.c.url)
    rows = gather(connection, sorted(set(urls)), lambda part: query.where(database.dialect.url_in(part)))
    return {row.url: row.id for row in rows}


def ensure_resources(
    connection: Connection, database: Database, wanted: Sequence[Wanted], additions: Additions
) -> tuple[dict[str, int], Mapping[int, int]]:
    """The ids of URLs, and by host when the new ones are due; the first of several decides what a new row says."""
    by_url = {want.url: want for want in reversed(wanted)}
    found = find_ids(connection, database, by_url)
    missing = [want for url, want in sorted(by_url.items()) if url not in found]
    if not missing:
        return found, {}
    hosts = ensure_hosts(connection, {origin_of(want.url) for want in missing})
    rows: list[NewResource] = [
        (hosts[origin_of(w.url)], w.url, tail_of(w.url), w.source_id, w.due_at, w.hops) for w in missing
    ]
    additions.add_to_house("state:waiting", database.dialect.insert_resources(connection, rows))
    found |= find_ids(connection, database, [want.url for want in missing])
    return found, {host_id: due for host_id, _, _, _, due, _ in rows if due is not None}


def lock_resources(connection: Connection, ids: Iterable[int]) -> dict[int, ResourceState]:
    """The rows of resources, which nobody else changes until the transaction ends."""
    query = select(*_COLUMNS).order_by(resource.c.id).with_for_update(key_share=True)
    rows = gather(connection, sorted(set(ids)), lambda part: query.where(resource.c.id.in_(part)))
    blobs = {row.blob_id for row in rows if row.blob_id is not None}
    digests = {
        row.id: row.digest
        for row in gather(connection, blobs, lambda part: select(blob.c.id, blob.c.digest).where(blob.c.id.in_(part)))
    }
    return {row.id: ResourceState(**row._mapping, digest=digests.get(row.blob_id)) for row in rows}


def write_resources(connection: Connection, states: Iterable[ResourceState]) -> None:
    """Store changed rows; redirects are stored by themselves."""
    rows: list[dict[str, Any]] = [
        {"row": state.id, **{name: getattr(state, name) for name in _CHANGED}} for state in states
    ]
    run_many(connection, _UPDATE, rows)
