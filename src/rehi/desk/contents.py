"""Contents: what the archive holds in versions, bytes and files, and how it is stored."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from rehi.app import House
from rehi.errors import ArchiveError
from rehi.model.holdings import Contents, Sample
from rehi.model.inventory import KnownBody
from rehi.model.plain import to_plain

SHOWN = 20  # types and hosts
SAMPLED = 200  # records that are looked at, to tell deltas from whole ones: some 40 ms
_RECORDS = ".warc.gz"


def look_up(house: House, *, limit: int = SHOWN, sample: int = SAMPLED) -> Contents:
    """The archive in numbers: added up from what is counted as versions come, in some milliseconds."""
    holdings = house.catalogue.holdings(limit=limit)
    files = house.archive.shelf.files()
    looked_at = None
    if sample and holdings.bodies:
        few = holdings.bodies <= sample
        catalogue = house.catalogue
        bodies = catalogue.bodies(until=catalogue.last_body()) if few else catalogue.sample_bodies(sample)
        looked_at = look_into(house, islice(bodies, sample), of=holdings.bodies)
    return Contents(
        holdings=holdings,
        files=sum(file.endswith(_RECORDS) for file, _ in files),
        file_bytes=sum(size for _, size in files),
        sample=looked_at,
    )


def to_numbers(found: Contents) -> dict[str, Any]:
    """All of it for programs, with what follows from it."""
    plain: dict[str, Any] = to_plain(found)
    held, sample = found.holdings, found.sample
    plain["holdings"] |= {"duplicate": held.duplicate, "revisits": held.revisits}
    for shown, rows in (("by_type", held.by_type), ("by_host", held.by_host)):
        for said, row in zip(plain["holdings"][shown], rows, strict=True):
            said["duplicate"] = row.duplicate
    if sample is not None:
        plain["sample"]["delta_saved"] = sample.delta_saved
    return plain


def look_into(house: House, bodies: Iterable[KnownBody], *, of: int) -> Sample:
    """How these are stored, as their records say."""
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
