"""The built-in parts of every kind, by name: lazy tables that outsiders extend through entry points of the same form.

A row is ``"name": "module:attribute"``. An outsider's package declares the same value as an entry point of the group
``rehi.<group>``; a built-in part can't be replaced by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from rehi.errors import SettingsError

# What each group holds is told in CONTRIBUTING.md, with the shape of a part and how it is proven.
BUILTIN: Mapping[str, Mapping[str, str]] = {
    "catalogue": {
        "sqlite": "rehi.engines.sql:open_catalogue",
        "postgresql": "rehi.engines.sql:open_catalogue",
    },
    "graph": {"oxigraph": "rehi.engines.oxigraph:open_graph"},
    "shelf": {
        "file": "rehi.engines.folder:open_shelf",
        "s3": "rehi.engines.bucket:open_shelf",
        "gs": "rehi.engines.bucket:open_shelf",
        "az": "rehi.engines.bucket:open_shelf",
    },
    "executor": {"local": "rehi.engines.local:open_executor"},
    "facet": {"language": "rehi.enrich.language:FACET", "names": "rehi.enrich.names:FACET"},
    "topic": {
        "resource": "rehi.graph.description:describe_resources",
        "entity": "rehi.graph.description:describe_entities",
    },
    "entity_kind": {
        "person": "rehi.model.kinds:PERSON",
        "organisation": "rehi.model.kinds:ORGANISATION",
        "place": "rehi.model.kinds:PLACE",
    },
    "source": {
        "crawl-log": "rehi.sources.crawl_log:KIND",
        "url-list": "rehi.sources.url_list:KIND",
        "page": "rehi.sources.page:KIND",
        "warc": "rehi.pipeline.crawl:KIND",
        "warc-in-place": "rehi.pipeline.crawl:IN_PLACE",
    },
    "language": {"en": "rehi.languages.en:English", "et": "rehi.languages.et:Estonian"},
    "format": {
        "text/html": "rehi.extract.html:read",
        "application/xhtml+xml": "rehi.extract.html:read",
        "text/csv": "rehi.extract.csv:read",
        "text/tab-separated-values": "rehi.extract.csv:read",
        "application/json": "rehi.extract.json:read",
        "application/x-ndjson": "rehi.extract.json:read",
        "+json": "rehi.extract.json:read",
        "application/xml": "rehi.extract.xml:read",
        "+xml": "rehi.extract.xml:read",
        "application/pdf": "rehi.extract.pdf:read",
        "text/*": "rehi.extract.text:read",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A part that can be loaded, and who brings it."""

    group: str
    name: str
    place: str  # "module:attribute"
    package: str = "rehi"
    version: str = ""


def load(group: str, name: str) -> Any:
    """Return the part of that name, imported now and not before; SettingsError names those there are."""
    place = find(group, name)
    if place is None:
        known = ", ".join(sorted(table(group)))
        raise SettingsError(f"there is no {group} called {name!r}; there are {known}")
    return load_place(place)


def load_all(group: str) -> list[Any]:
    """Return all parts of a group, the built-in ones first."""
    return [load_place(place) for place in table(group).values()]


def find(group: str, name: str) -> str | None:
    """Return where the part of that name is, built in or an outsider's; None if there is none."""
    return BUILTIN.get(group, {}).get(name) or _outsiders(group).get(name)


def table(group: str) -> dict[str, str]:
    """Return all parts of a group: the built-in ones in their order, then outsiders' by name."""
    built_in = BUILTIN.get(group, {})
    return {**built_in, **{name: place for name, place in sorted(_outsiders(group).items()) if name not in built_in}}


@cache
def load_place(place: str) -> Any:
    """Return what ``module:attribute`` names; SettingsError if an outsider's package does not have it."""
    module, _, attribute = place.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"{place} can't be loaded: {error}") from error


def plugins() -> list[Plugin]:
    """Return everything that is installed, group by group, with the package that brings it."""
    listed: list[Plugin] = []
    for group, built_in in BUILTIN.items():
        listed += [Plugin(group=group, name=name, place=place) for name, place in built_in.items()]
        for point in sorted(entry_points(group=f"rehi.{group}"), key=lambda point: point.name):
            package = point.dist
            listed.append(
                Plugin(
                    group=group,
                    name=point.name,
                    place=point.value,
                    package=package.name if package else "",
                    version=package.version if package else "",
                )
            )
    return listed


@cache
def _outsiders(group: str) -> Mapping[str, str]:
    return {point.name: point.value for point in entry_points(group=f"rehi.{group}")}
