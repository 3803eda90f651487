"""The built-in parts of every kind, by name: lazy tables that outsiders extend through entry points of the same form.

A row is ``"name": "module:attribute"``. An outsider's package declares the same value as an entry point of the group
``rehi.<group>``; a built-in part can't be replaced by one. A part that can't be loaded is left out of what needs all of
its kind, and named by ``rehi plugins``; only who asks for it by name is stopped.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
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
    "backup": {
        "file": "rehi.engines.backup_folder:open_backups",
        "s3": "rehi.engines.bucket.backups:open_backups",
        "gs": "rehi.engines.bucket.backups:open_backups",
        "az": "rehi.engines.bucket.backups:open_backups",
    },
    "executor": {"local": "rehi.engines.local:open_executor"},
    "facet": {
        "language": "rehi.enrich.language:FACET",
        "names": "rehi.enrich.names:FACET",
        "metadata": "rehi.enrich.metadata:FACET",
    },
    "topic": {
        "resource": "rehi.graph.description:RESOURCES",
        "entity": "rehi.graph.description:ENTITIES",
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


_GROUP = "rehi."  # before the name of a group in entry points

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A part that can be loaded, and who brings it."""

    group: str
    name: str
    place: str  # "module:attribute"
    package: str = "rehi"
    version: str = ""
    error: str = ""  # why it can't be used, if it can't


def load(group: str, name: str) -> Any:
    """Return the part of that name, imported now and not before; SettingsError names those there are."""
    place = find(group, name)
    if place is None:
        known = ", ".join(sorted(table(group)))
        raise SettingsError(f"there is no {group} called {name!r}; there are {known}")
    return load_place(place)


def load_all(group: str) -> dict[str, Any]:
    """Return the parts of a group that can be loaded, by name, the built-in ones first."""
    parts = {name: _load_or_warn(group, name, place) for name, place in table(group).items()}
    return {name: part for name, part in parts.items() if part is not None}


def find(group: str, name: str) -> str | None:
    """Return where the part of that name is, built in or an outsider's; None if there is none."""
    return BUILTIN.get(group, {}).get(name) or _outsiders(group).get(name)


def package_of(group: str, name: str) -> str:
    """Return who brings the part of that name: ``rehi``, or an outsider's package."""
    place = find(group, name)
    brought = (one.package for one in outsiders() if (one.group, one.name, one.place) == (group, name, place))
    return "rehi" if is_built_in(group, name) else next(brought, "")


def is_built_in(group: str, name: str) -> bool:
    """Whether rehi itself brings the part of that name."""
    return name in BUILTIN.get(group, {})


def table(group: str) -> dict[str, str]:
    """Return all parts of a group: the built-in ones in their order, then outsiders' by name."""
    built_in = BUILTIN.get(group, {})
    return {**built_in, **{name: place for name, place in sorted(_outsiders(group).items()) if name not in built_in}}


def load_place(place: str) -> Any:
    """Return what ``module:attribute`` names; SettingsError if an outsider's package does not have it."""
    module, _, attribute = place.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # an outsider's module may raise whatever it likes when it is imported
        raise SettingsError(f"{place} can't be loaded: {type(error).__name__}: {error}") from error


@cache  # to look through all that is installed takes 6 ms
def packages(*groups: str) -> tuple[str, ...]:
    """Return the outsiders' packages that bring parts of these groups, each with its version: ``acme-rehi-1.2``."""
    brought = {f"{plugin.package}-{plugin.version}" for plugin in outsiders() if plugin.group in groups}
    return tuple(sorted(brought))


def plugins() -> list[Plugin]:
    """Return everything that is installed, group by group; what outsiders bring is loaded to see whether it can be."""
    built_in = [
        Plugin(group=group, name=name, place=place) for group, parts in BUILTIN.items() for name, place in parts.items()
    ]
    order = list(BUILTIN)
    return sorted(
        [*built_in, *outsiders(check=True)],
        key=lambda plugin: order.index(plugin.group) if plugin.group in BUILTIN else len(order),
    )


def outsiders(*, check: bool = False) -> list[Plugin]:
    """Return what other packages bring, by group and name; ``check`` loads each, to tell those that can't be used."""
    points = [
        (name.removeprefix(_GROUP), point)
        for name in entry_points().groups
        if name.startswith(_GROUP)
        for point in entry_points(group=name)
    ]
    return [
        Plugin(
            group=group,
            name=point.name,
            place=point.value,
            package=point.dist.name if point.dist else "",
            version=point.dist.version if point.dist else "",
            error=_examine(group, point) if check else "",
        )
        for group, point in sorted(points, key=lambda item: (item[0], item[1].name, item[1].value))
    ]


def _examine(group: str, point: EntryPoint) -> str:
    """Return why an outsider's part can't be used; empty if it can."""
    if group not in BUILTIN:
        return f"there is no kind of part called {group!r}; there are {', '.join(BUILTIN)}"
    if is_built_in(group, point.name):
        return f"rehi has its own {group} of this name, which can't be replaced"
    if _outsiders(group).get(point.name) != point.value:
        return f"another package brings a {group} of this name, which is used"
    try:
        _load_checked(group, point.name, point.value)
    except SettingsError as error:
        return str(error)
    return ""


def _load_checked(group: str, name: str, place: str) -> Any:
    """Return a part; SettingsError if it can't be loaded, or is a topic that nobody would ever put work into the outbox for."""
    part = load_place(place)
    if group == "topic" and not is_built_in(group, name) and (why := _examine_topic(name, part)):
        raise SettingsError(f"{place} can't be used: it {why}")
    return part


def _examine_topic(name: str, part: Any) -> str:
    """Return why a topic would never be told of anything, or for ever; empty if neither."""
    chain = [name]
    while follows := getattr(part, "follows", ""):
        if follows in chain:
            return f"follows {follows}, which comes back to itself"
        leader = find("topic", follows)
        if leader is None:
            return f"follows the topic {follows}, which is not installed"
        chain.append(follows)
        part = load_place(leader)
    if not callable(getattr(part, "subjects", None)):
        return (
            "follows no topic and has no subjects" if len(chain) == 1 else f"follows {chain[-1]}, which has no subjects"
        )
    return ""


@cache
def _load_or_warn(group: str, name: str, place: str) -> Any:
    try:
        return _load_checked(group, name, place)
    except SettingsError as error:
        _log.warning("%s; it is left out, and `rehi plugins` names it", error)
        return None


@cache
def _outsiders(group: str) -> Mapping[str, str]:
    """Return names and places; of several packages that bring a name, the first in the alphabet has it."""
    points = sorted(
        entry_points(group=f"{_GROUP}{group}"),
        key=lambda point: (point.dist.name if point.dist else "", point.value),
        reverse=True,
    )
    return {point.name: point.value for point in points}
