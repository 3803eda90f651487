"""Engines of the weather package: those of rehi under other names, each with something of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rehi.engines.backup_folder import FolderBackups
from rehi.engines.folder import FolderShelf
from rehi.engines.local import LocalExecutor
from rehi.engines.oxigraph import open_graph as open_oxigraph
from rehi.engines.sql import SqlCatalogue
from rehi.engines.sql import open_catalogue as open_sql
from rehi.ports import Graph, GraphChange


def open_catalogue(uri: str) -> SqlCatalogue:
    """Return the catalogue of ``granary:///path``."""
    return open_sql(uri.replace("granary:", "sqlite:", 1))


def open_graph(uri: str, *, writable: bool, base: str, workers: int = 2) -> Graph:
    """Return the graph of ``ledger:///path``; the one that is written counts its writings in a file beside it."""
    inner = uri.replace("ledger:", "oxigraph:", 1)
    if not writable:
        return open_oxigraph(inner, writable=False, base=base, workers=workers)
    from rehi.engines.oxigraph.store import OxigraphStore

    folder = Path(inner.removeprefix("oxigraph://"))

    class LedgerStore(OxigraphStore):
        """An Oxigraph that notes each writing."""

        def write(self, changes: Sequence[GraphChange]) -> None:
            """Write, and note how many changes there were."""
            super().write(changes)
            with folder.with_suffix(".ledger").open("a", encoding="ascii") as ledger:
                ledger.write(f"{len(changes)}\n")

    return LedgerStore(folder, base=base, workers=workers)


class LoftShelf(FolderShelf):
    """A folder that lies elsewhere."""

    def check(self) -> str:
        """Return one line on where it is."""
        return "a loft"


def open_shelf(uri: str, *, folder: Path, **_: object) -> LoftShelf:
    """Return the shelf of ``loft:///path``, a folder there."""
    return LoftShelf(Path(uri.removeprefix("loft://")))


def open_backups(uri: str, **_: object) -> FolderBackups:
    """Return the backups of ``barn:///path``, a folder there."""
    return FolderBackups(Path(uri.removeprefix("barn://")))


class BenchExecutor(LocalExecutor):
    """Guarded processes on this machine."""


def open_executor(uri: str, *, workers: int, timeout: float, memory: int, preload: Sequence[str] = ()) -> BenchExecutor:
    """Return the executor of ``bench:``."""
    return BenchExecutor(1, timeout=timeout, memory=memory, preload=preload)
