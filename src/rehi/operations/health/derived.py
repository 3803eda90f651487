"""The derived files' health: whether the text and facets of every reading can be had."""

from __future__ import annotations

from collections.abc import Iterator

from rehi.app import House
from rehi.archive import is_derived
from rehi.errors import RecordDamaged, RecordMissing
from rehi.model.work import ReadingFacts
from rehi.operations.health.ailment import Ailment, HousePart
from rehi.operations.health.catalogue import Seen

SAMPLED = 200  # readings that a quick look reads


def examine(house: House, *, deep: bool) -> Seen:
    """Look at the sizes of all files, and at some or all of the readings in them."""
    ailments = list(_check_sizes(house))
    elsewhere = {known.name for known in house.catalogue.known_files() if known.owner not in ("", house.worker)}
    count = 0
    for facts in house.catalogue.readings(sample=None if deep else SAMPLED):
        if facts.derived is not None and facts.derived.file in elsewhere and not house.derived.shared:
            continue
        count += 1
        if not _why(house, facts):
            continue
        for now in house.catalogue.readings(ids=[facts.id]):  # once more, as the catalogue knows it by now
            if why := _why(house, now):
                ailments.append(Ailment(part=HousePart.DERIVED, subject=_file_of(facts), why=why, row=facts.id))
    return Seen(f"{count:,} readings", ailments)


def _check_sizes(house: House) -> Iterator[Ailment]:
    """Yield files that are gone or shorter than they were; what was appended since the catalogue was asked is no matter."""
    known = [
        file
        for file in house.catalogue.known_files()
        if is_derived(file.name) and file.known_end and (house.derived.shared or file.owner in ("", house.worker))
    ]
    sizes = house.derived.sizes()
    for file in known:
        size = sizes.get(file.name)
        if size is None:
            yield Ailment(part=HousePart.DERIVED, subject=file.name, why="the file is not there")
        elif size < file.known_end:
            why = f"the file ends at {size:,}, and it was {file.known_end:,} bytes long"
            yield Ailment(part=HousePart.DERIVED, subject=file.name, why=why)


def _why(house: House, facts: ReadingFacts) -> str:
    """Return what is wrong with a reading's records; empty if nothing is, or if there are none."""
    if facts.derived is None:
        return ""
    try:
        reading = house.derived.read(facts.derived)
    except (RecordDamaged, RecordMissing) as error:
        return str(error)
    document = reading.document
    same = (len(document.text), document.media_type) == (facts.characters, facts.media_type)
    return (
        "" if same else f"{facts.derived.file}:{facts.derived.offset}: it is not the reading that the catalogue knows"
    )


def _file_of(facts: ReadingFacts) -> str:
    return facts.derived.file if facts.derived else ""
