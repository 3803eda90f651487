"""The embedded catalogue as a file: looked at, and made again, without being opened as a catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rehi.model.inventory import CatalogueFault
from rehi.settings import Settings

if TYPE_CHECKING:
    from rehi.engines.sql.integrity import Opaque
    from rehi.engines.sql.salvage import Salvaged


@dataclass(frozen=True, slots=True)
class EmbeddedCatalogue:
    """The file of a catalogue on SQLite."""

    path: Path

    def why_gone(self) -> str:
        """Return what is wrong if there is no file to open, or nothing in it; looking does not make one."""
        try:
            return "" if self.path.stat().st_size else "its file is empty"
        except FileNotFoundError:
            return "its file is not there"

    def faults(self, *, deep: bool) -> Iterator[CatalogueFault]:
        """Yield what is wrong with the file, as far as it tells by itself; nothing if it is not there."""
        from rehi.engines.sql.integrity import find_faults

        return find_faults(self.path, deep=deep, opaque=_opaque()) if self.path.exists() else iter(())

    def rebuild_indexes(self) -> None:
        """Make its indexes again from its tables."""
        from rehi.engines.sql.salvage import rebuild_indexes

        rebuild_indexes(self.path)

    def salvage(self, new: Path) -> Salvaged:
        """Copy readable rows that the archive's files don't tell to a new file."""
        from rehi.engines.sql.salvage import salvage

        return salvage(self.path, new, opaque=_opaque())

    def restore_schedules(self, old: Path) -> None:
        """Give resources the schedules that they had in an old file."""
        from rehi.engines.sql.salvage import restore_schedules

        restore_schedules(old, self.path, opaque=_opaque())


def _opaque() -> Opaque:
    """Return which bytes only rooms can read, and how they judge them."""
    from rehi.frontier import is_host_history, is_page_history

    return {("resource", "history"): is_page_history, ("host", "history"): is_host_history}


def embedded_catalogue(settings: Settings) -> EmbeddedCatalogue | None:
    """Return the catalogue's file; None if it is on a server."""
    scheme, _, path = settings.catalogue_uri.partition(":///")
    return EmbeddedCatalogue(Path(path.partition("?")[0])) if scheme == "sqlite" else None
