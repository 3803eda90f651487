"""The built-in parts, by name: a lazy table that outsiders extend through entry points of the same form."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from rehi.errors import SettingsError

CATALOGUES = {"sqlite": "rehi.engines.sql:open_catalogue", "postgresql": "rehi.engines.sql:open_catalogue"}
GRAPHS = {"oxigraph": "rehi.engines.oxigraph:open_graph"}
EXECUTORS = {"local": "rehi.engines.local:LocalExecutor"}
SHELVES = dict.fromkeys(("s3", "gs", "az"), "rehi.engines.bucket:open_shelf")

_GROUPS = {"catalogue": CATALOGUES, "graph": GRAPHS, "executor": EXECUTORS, "shelf": SHELVES}


def load(group: str, name: str) -> Any:
    """The part of that name, imported now and not before; SettingsError names those there are."""
    table = dict(_GROUPS[group])
    if name not in table:
        table.update({point.name: point.value for point in entry_points(group=f"rehi.{group}")})
    if name not in table:
        raise SettingsError(f"there is no {group} called {name!r}; there are {', '.join(sorted(table))}")
    module, _, attribute = table[name].partition(":")
    return getattr(import_module(module), attribute)
