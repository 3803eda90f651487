"""Archive statistics: versions, bytes and files, and how they are stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from rehi.app import House
from rehi.errors import ArchiveError
from rehi.model.holdings import Holding, Holdings, Sample
from rehi.model.inventory import KnownBody
from rehi.operations.parameters import Limit

SHOWN = 20  # types and hosts
SAMPLED = 200  # records that are looked at, to tell deltas from whole ones: some 40 ms
_RECORDS = ".warc.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveStats:
    """What the archive holds, as the catalogue and the files tell it."""

    holdings: Holdings
    files: int
    file_bytes: int  # all of them, with requests, revisits and indexes
    sample: Sample | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingNumbers:
    """The versions of one type or one host, for programs."""

    name: str
    versions: int
    bodies: int
    logical: int
    distinct: int
    stored: int
    duplicate: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingsNumbers:
    """The whole archive by the catalogue's knowledge, for programs."""

    versions: int
    bodies: int
    logical: int
    distinct: int
    stored: int
    dropped_versions: int
    dropped_bodies: int
    dropped_bytes: int
    by_type: tuple[HoldingNumbers, ...]
    by_host: tuple[HoldingNumbers, ...]
    types: int
    hosts: int
    duplicate: int
    revisits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleNumbers:
    """How bodies are stored, by the records of some of them, for programs."""

    looked_at: int
    of: int
    whole: int
    deltas: int
    missing: int
    delta_bytes: int
    delta_stored: int
    whole_bytes: int
    whole_stored: int
    delta_saved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveNumbers:
    """What the archive holds, for programs."""

    holdings: HoldingsNumbers
    files: int
    file_bytes: int
    sample: SampleNumbers | None


def get_archive_stats(house: House, *, limit: int = SHOWN, sample: int = SAMPLED) -> ArchiveStats:
    """Return the archive in numbers, added up from what is counted as versions come, in some milliseconds."""
    holdings = house.catalogue.holdings(limit=limit)
    files = house.archive.shelf.files()
    looked_at = None
    if sample and holdings.bodies:
        few = holdings.bodies <= sample
        catalogue = house.catalogue
        bodies = catalogue.bodies() if few else catalogue.sample_bodies(sample)
        looked_at = look_into(house, islice(bodies, sample), of=holdings.bodies)
    return ArchiveStats(
        holdings=holdings,
        files=sum(file.endswith(_RECORDS) for file, _ in files),
        file_bytes=sum(size for _, size in files),
        sample=looked_at,
    )


def get_archive(
    house: House, *, limit: Annotated[Limit, Field(description="Types and hosts to show.")] = SHOWN
) -> ArchiveNumbers:
    """Return what the archive holds: logical, distinct, stored and duplicate bytes, by type and host."""
    return to_numbers(get_archive_stats(house, limit=limit))


def to_numbers(stats: ArchiveStats) -> ArchiveNumbers:
    """Return all of it for programs, with what follows from it."""
    held, sample = stats.holdings, stats.sample
    counted = _values(held) | {"by_type": _numbers(held.by_type), "by_host": _numbers(held.by_host)}
    return ArchiveNumbers(
        holdings=HoldingsNumbers(**counted, duplicate=held.duplicate, revisits=held.revisits),
        files=stats.files,
        file_bytes=stats.file_bytes,
        sample=SampleNumbers(**_values(sample), delta_saved=sample.delta_saved) if sample is not None else None,
    )


def _numbers(rows: Iterable[Holding]) -> tuple[HoldingNumbers, ...]:
    return tuple(HoldingNumbers(**_values(row), duplicate=row.duplicate) for row in rows)


def _values(row: Holding | Holdings | Sample) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(row)}


def look_into(house: House, bodies: Iterable[KnownBody], *, of: int) -> Sample:
    """Return how these versions are stored, as their records say."""
    counts = dict.fromkeys(
        ("whole", "deltas", "missing", "delta_bytes", "delta_stored", "whole_bytes", "whole_stored"), 0
    )
    looked_at = 0
    for body in bodies:
        looked_at += 1
        try:
            kind = house.archive.fields_of(body.place).kind
        except ArchiveError:
            counts["missing"] += 1
            continue
        length = house.archive.place_of(body.place).length
        if kind == "delta":
            counts["deltas"] += 1
            counts["delta_bytes"] += body.size
            counts["delta_stored"] += length
        else:
            counts["whole"] += 1
            counts["whole_bytes"] += body.size
            counts["whole_stored"] += length
    return Sample(looked_at=looked_at, of=of, **counts)
