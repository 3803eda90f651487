"""The archive's health: its files, their records and their indexes."""

from __future__ import annotations

import random
from collections.abc import Iterator

from rehi.app import House, lock_folder
from rehi.archive import index_name, sample_index
from rehi.errors import DataFolderBusy, IndexWrong
from rehi.operations.health.ailment import Ailment, HousePart
from rehi.operations.health.catalogue import Seen
from rehi.operations.verification import Fault, Verified, take_inventory, verify_all, verify_sample

SAMPLED = 200  # bodies that a quick look reads
LINES = 2_000  # lines of indexes that it compares with their records
INDEX_BYTES = 20_000_000  # of indexes that it reads at all


def examine(house: House, *, deep: bool) -> Seen:
    """Look at all files, by their sizes and some of their records, or by all of them."""
    if deep:
        done = verify_all(house)
        ailments = [*map(to_ailment, done.faults), *_known_damage(done), *missing_indexes(house), *_unknown(done)]
        return Seen(f"{done.records:,} records in {done.files:,} files", ailments)
    with lock_folder(house.settings.data, name="compact.lock"):
        ailments = [*_check_sizes(house), *_sample_indexes(house)]
    done = verify_sample(house, SAMPLED)
    seen = f"{sum(1 for _ in house.archive.walks()):,} files, {done.bodies:,} of their bodies read"
    known = {ailment.subject for ailment in ailments}
    return Seen(seen, ailments + [to_ailment(fault) for fault in done.faults if fault.file not in known])


def to_ailment(fault: Fault) -> Ailment:
    """Return a fault of the archive as an ailment."""
    part = HousePart.INDEX if fault.code == IndexWrong.code else HousePart.ARCHIVE
    where = f" (at {fault.offset:,})" if fault.offset else ""
    return Ailment(part=part, subject=fault.file, why=f"{fault.why}{where}")


def _known_damage(done: Verified) -> Iterator[Ailment]:
    """Yield files in which nothing new is lost, but which other tools can't read to their ends."""
    faulty = {fault.file for fault in done.faults}
    for name in done.damaged:
        if name not in faulty:
            yield Ailment(
                part=HousePart.ARCHIVE, subject=name, why="it holds bytes that are no record: other tools stop there"
            )


def _unknown(done: Verified) -> Iterator[Ailment]:
    for kept in done.unknown:
        why = f"the visit of {kept.at:%Y-%m-%d %H:%M:%S} UTC is in the archive and not in the catalogue"
        yield Ailment(part=HousePart.CATALOGUE, subject=kept.url, why=why)


def _check_sizes(house: House) -> Iterator[Ailment]:
    """Yield files that are gone, or shorter than the catalogue knew them."""
    inventory = take_inventory(house)
    for name in sorted(inventory.missing):
        yield Ailment(part=HousePart.ARCHIVE, subject=name, why="the file is not there")
    for walk in house.archive.walks():
        known = inventory.ends.get(walk.name, 0)
        if walk.size < known:
            why = f"the file ends at {walk.size:,}, and it was {known:,} bytes long"
            yield Ailment(part=HousePart.ARCHIVE, subject=walk.name, why=why)


def _sample_indexes(house: House) -> Iterator[Ailment]:
    """Yield indexes that are missing or wrong, the files chosen by lot if they are many."""
    archive, lot = house.archive, random.Random()  # noqa: S311 - no secret
    yield from missing_indexes(house)
    sizes = dict(archive.shelf.files())
    sealed = [(walk.name, walk.size) for walk in archive.walks() if archive.is_sealed(walk.name)]
    left, lines = INDEX_BYTES, LINES
    for name, size in lot.sample(sealed, len(sealed)):
        index = index_name(name)
        left -= sizes.get(index, 0)
        if left < 0:
            return
        for why in sample_index(archive.shelf, name, size, lines=max(lines // len(sealed), 20), lot=lot):
            yield Ailment(part=HousePart.INDEX, subject=index, why=why)


def missing_indexes(house: House) -> Iterator[Ailment]:
    """Yield indexes that are not there. A harvest that is running makes them by itself, so that then none is missed."""
    try:
        with house.sealing() as archives:
            files = [file for archive in archives for file, _ in archive.unsealed()]
    except DataFolderBusy:
        return
    yield from (Ailment(part=HousePart.INDEX, subject=file, why="it has no index") for file in files)
