"""The embedded graph engine: Oxigraph, with one writer and with readers on checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rehi.ports import Graph


def open_graph(uri: str, *, writable: bool, base: str, workers: int = 2) -> Graph:
    """Return the graph at ``oxigraph:///path``; without ``writable`` it is for queries only, also while another process writes."""
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    from rehi.errors import SettingsError

    parts = urlsplit(uri)
    if parts.scheme != "oxigraph" or parts.netloc or not parts.path:
        raise SettingsError(f"{uri!r} is no place for a graph; write oxigraph:/// and an absolute path")
    folder = Path(unquote(parts.path))
    if writable:
        from rehi.engines.oxigraph.store import OxigraphStore

        return OxigraphStore(folder, base=base, workers=workers)
    from rehi.engines.oxigraph.readers import PublishedGraph

    return PublishedGraph(folder, base=base, workers=workers)
