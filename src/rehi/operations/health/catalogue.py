"""The catalogue's health: whether it is there, its own file, and what the archive's files know that it should know too."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rehi.app import House
from rehi.app.embedded import EmbeddedCatalogue, embedded_catalogue
from rehi.app.lost_catalogue import ARCHIVE, find_remains
from rehi.errors import CatalogueLost
from rehi.operations.health.ailment import Ailment, HousePart


class Seen(NamedTuple):
    """What was seen of a part."""

    words: str
    ailments: list[Ailment]
    in_part: bool = False  # whether something was left out that should have been looked at


def examine(house: House, *, deep: bool) -> Seen:
    """Look at the embedded catalogue's file before it is opened; one on a server is its own keeper's business."""
    file = embedded_catalogue(house.settings)
    if file is not None and (why := file.why_gone()):
        remains = find_remains(house.settings.data) or ([ARCHIVE] if any(house.archive.walks()) else [])
        if not remains:
            return Seen("nothing is there yet", [])
        return Seen("", [_ailment(file.path.name, f"{why}, though there are {' and '.join(remains)}")])
    faults = [] if file is None else list(dict.fromkeys(file.faults(deep=deep)))  # a quick look may see one twice
    ailments = [_ailment(fault.table or fault.index, fault.why, row=fault.row) for fault in faults if not fault.unread]
    engine = ""
    if not ailments:
        try:
            engine = house.catalogue.check()
        except CatalogueLost as error:
            ailments = [_ailment(file.path.name if file else "", str(error))]
    return (
        _seen_of_file(file, [fault.why for fault in faults if fault.unread], ailments)
        if file
        else Seen(engine, ailments)
    )


def _seen_of_file(file: EmbeddedCatalogue, unread: list[str], ailments: list[Ailment]) -> Seen:
    size = f"{_size(file.path) / 1e6:,.1f} MB"
    if not unread:
        return Seen(size, ailments)
    return Seen(f"{size}, of which was looked at only {unread[0]}; --deep looks at all of it", ailments, in_part=True)


def _ailment(subject: str, why: str, *, row: int | None = None) -> Ailment:
    return Ailment(part=HousePart.CATALOGUE, subject=subject, why=why, row=row)


def _size(path: Path) -> int:
    """Return the bytes of the file and of its log, in which all of a young catalogue may still be."""
    size = 0
    for part in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):  # the log goes when the last one who has it open closes it
            size += part.stat().st_size
    return size
