"""The embedded catalogue as a file: looked at, and made again, without being opened as a catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rehi.model.inventory import CatalogueFault
from rehi.settings import Settings


@dataclass(frozen=True, slots=True)
class EmbeddedCatalogue:
    """The file of a catalogue on SQLite."""

    path: Path

    def faults(self, *, deep: bool) -> Iterator[CatalogueFault]:
        """Yield what is wrong with the file, as far as it tells by itself; nothing if it is not there."""
        from rehi.engines.sql.integrity import find_faults
        from rehi.frontier import is_host_history, is_page_history

        opaque = {("resource", "history"): is_page_history, ("host", "history"): is_host_history}
        return find_faults(self.path, deep=deep, opaque=opaque) if self.path.exists() else iter(())

    def rebuild_indexes(self) -> None:
        """Make its indexes again from its tables."""
        from rehi.engines.sql.salvage import rebuild_indexes

        rebuild_indexes(self.path)

    def salvage(self, new: Path) -> Mapping[str, int]:
        """Copy readable rows that the archive's files don't tell to a new file; return how many of each table."""
        from rehi.engines.sql.salvage import salvage

        return salvage(self.path, new)

    def restore_schedules(self, old: Path) -> None:
        """Give resources the schedules that they had in an old file."""
        from rehi.engines.sql.salvage import restore_schedules

        restore_schedules(old, self.path)


def embedded_catalogue(settings: Settings) -> EmbeddedCatalogue | None:
    """Return the catalogue's file; None if it is on a server."""
    scheme, _, path = settings.catalogue_uri.partition(":///")
    return EmbeddedCatalogue(Path(path.partition("?")[0])) if scheme == "sqlite" else None
