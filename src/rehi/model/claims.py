"""Claims: what a source says of a resource, before anybody has visited it, and what all its sources order together."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

LONGEST = 2_000  # characters of one claim that are kept
MOST_EXTRA = 50  # further pairs that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a source says of a resource; empty where it says nothing."""

    title: str = ""
    media_type: str = ""
    format: str = ""  # as the publisher names it: "CSV", "Shapefile"
    licence: str = ""
    publisher: str = ""
    published_at: datetime | None = None
    modified_at: datetime | None = None
    language: str = ""
    frequency: float = 0.0  # seconds between two changes that are promised; 0 if none are
    part_of: str = ""  # the dataset to which it belongs
    extra: tuple[tuple[str, str], ...] = ()  # what else there is, in the source's own words


NO_CLAIMS = Claims()
_MOMENTS = frozenset({"published_at", "modified_at"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceClaims:
    """What one source says of a resource, since when, and what follows from it."""

    source_id: int
    source: str  # its name
    first_at: datetime
    last_at: datetime  # when it last said so
    claims: Claims
    depth: int = 0  # how many links lie between where the source began and the resource
    follow: str = ""  # which links of its document become resources of the source; empty for none


def write_claims(claims: Claims) -> str:
    """Return claims as JSON, without what is empty; an empty text for no claims at all."""
    if claims is NO_CLAIMS:
        return ""
    values: dict[str, Any] = {}
    for field in fields(claims):
        value = getattr(claims, field.name)
        if value and field.name in _MOMENTS:
            values[field.name] = value.isoformat()
        elif value and field.name == "extra":
            values["extra"] = [[name[:LONGEST], text[:LONGEST]] for name, text in value[:MOST_EXTRA]]
        elif value:
            values[field.name] = value[:LONGEST] if isinstance(value, str) else value
    return json.dumps(values, ensure_ascii=False) if values else ""


def read_claims(text: str) -> Claims:
    """Return the claims that were written; keys that a later version has written are passed over."""
    if not text:
        return NO_CLAIMS
    values: dict[str, Any] = json.loads(text)
    known = {field.name: values[field.name] for field in fields(Claims) if field.name in values}
    for name in _MOMENTS & known.keys():
        known[name] = datetime.fromisoformat(known[name])
    if "extra" in known:
        known["extra"] = tuple((str(name), str(value)) for name, value in known["extra"])
    return Claims(**known)


class SourceOrders(NamedTuple):
    """What one source claims of a resource, and orders for it."""

    claims: str  # as they are kept
    policy: str  # for coming back; an empty one is the settings' own
    weight: float  # how much it matters
    keep: str  # the rule for what is kept


@dataclass(frozen=True, slots=True)
class CombinedOrders:
    """What all sources of a resource order together."""

    policies: tuple[str, ...] = ()
    weight: float = 1.0  # that of the source that matters most
    promised: float = 0.0  # the shortest time between two changes that a source promises, in seconds; 0 if none does
    promised_type: str = ""  # the media type that the first source to name one promises
    keeps: tuple[str, ...] = ()  # of each source, the rule for what is kept


@lru_cache(maxsize=1_000)  # most resources have the same ones
def combine_orders(sources: tuple[SourceOrders, ...]) -> CombinedOrders:
    """Return what sources order together, the first source first."""
    claims = [read_claims(source.claims) for source in sources if source.claims]
    return CombinedOrders(
        policies=tuple(dict.fromkeys(source.policy for source in sources)),
        weight=max((source.weight for source in sources), default=1.0),
        promised=min((one.frequency for one in claims if one.frequency > 0), default=0.0),
        promised_type=next((one.media_type for one in claims if one.media_type), ""),
        keeps=tuple(source.keep for source in sources),
    )
