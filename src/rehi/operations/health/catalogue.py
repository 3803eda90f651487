"""The catalogue's health: its own file, and what the archive's files know that it should know too."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rehi.app import House
from rehi.embedded import embedded_catalogue
from rehi.operations.health.ailment import Ailment, HousePart

Seen = tuple[str, list[Ailment]]


def examine(house: House, *, deep: bool) -> Seen:
    """Look at the embedded catalogue's file; one on a server is its own keeper's business."""
    file = embedded_catalogue(house.settings)
    if file is None:
        return house.catalogue.check(), []
    if not file.path.exists():
        gone = Ailment(part=HousePart.CATALOGUE, subject=file.path.name, why="the file is not there")
        return "", [gone] if any(house.archive.walks()) else []
    faults = list(file.faults(deep=deep))
    ailments = [
        Ailment(part=HousePart.CATALOGUE, subject=fault.table or fault.index, why=fault.why, row=fault.row)
        for fault in faults
        if not fault.unread
    ]
    rest = ", not all of which was looked at; --deep does" if any(fault.unread for fault in faults) else ""
    return f"{_size(file.path) / 1e6:,.1f} MB{rest}", ailments


def _size(path: Path) -> int:
    """Return the bytes of the file and of its log, in which all of a young catalogue may still be."""
    size = 0
    for part in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):  # the log goes when the last one who has it open closes it
            size += part.stat().st_size
    return size
