"""The ports stay small, and each of their methods has a caller."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rehi"
# How many methods the catalogue's ports have. A number may go down; if it must go up, another engine has more to do.
METHODS = {
    "Sources": 9,
    "Frontier": 11,  # of which two for a clock that was set: what is planned can be corrected only where it is written
    # Where records begin: what lies between two damaged ones is found by the catalogue alone. Where bytes lie that came again:
    # only the visit that has brought them knows that the kept ones can't be read.
    "Ledger": 11,
    "Retention": 5,
    "Outbox": 5,
    "Knowledge": 14,  # of which two list subjects of the graph, since no engine knows topics; relink merges and divides entities
    "Generation": 4,
    "Workers": 6,
    "Index": 9,
    "Catalogue": 5,  # a dump, and the loading of one, are the engine's own
}
HELD_AS = frozenset({"catalogue", "frontier", "into", "ledger"})  # the names under which the rooms hold a port of it


@cache
def protocols() -> dict[str, tuple[str, list[str]]]:
    """Return the ports by name, with their module and the names of their methods; properties count too."""
    ports = {}
    for path in sorted((SOURCE / "ports").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "Protocol" for base in node.bases):
                ports[node.name] = path.stem, [one.name for one in node.body if isinstance(one, ast.FunctionDef)]
    return ports


def methods_used(path: Path) -> Iterator[str]:
    """Yield what a module asks of the catalogue: ``lease`` for ``house.catalogue.lease(...)``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name(id=holder) | ast.Attribute(attr=holder), attr=name):
                if holder.lstrip("_") in HELD_AS:
                    yield name


@cache
def asked() -> set[str]:
    """Return all that is asked of the catalogue outside the engines and what ships for tests."""
    inner = ("engines", "testing")
    paths = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in inner]
    return {name for path in paths for name in methods_used(path)}


def test_the_catalogues_ports_do_not_grow_unseen() -> None:
    ports = protocols()
    catalogue = next(
        node
        for node in ast.parse((SOURCE / "ports" / "catalogue.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    behind = {getattr(base, "id", "") for base in catalogue.bases} - {"Protocol"}
    assert behind == METHODS.keys() - {"Catalogue"}
    counts = {name: len(ports[name][1]) for name in METHODS}
    assert counts == METHODS, "a method more is one more for every engine: can a room compose it from others?"


def test_the_architecture_says_how_many_methods_each_port_has() -> None:
    text = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    told = {name: int(count) for name, count in re.findall(r"^\| `(\w+)` \| (\d+) \|", text, re.MULTILINE)}
    assert told == {name: count for name, count in METHODS.items() if name != "Catalogue"}
    assert f"They have {sum(told.values())} methods" in text


def test_a_port_is_in_the_module_of_its_name_and_has_a_folder_in_the_engine() -> None:
    for name in METHODS.keys() - {"Catalogue"}:
        assert protocols()[name][0] == name.lower()
        assert (SOURCE / "engines" / "sql" / name.lower() / "port.py").is_file()


def test_the_engines_folders_are_the_ports_and_what_they_stand_on() -> None:
    folders = {path.name for path in (SOURCE / "engines" / "sql").iterdir() if path.is_dir()} - {"__pycache__"}
    ports = {name.lower() for name in METHODS} - {"catalogue"}
    assert folders == ports | {"dialects", "migrations", "statements", "tables"}


@pytest.mark.parametrize("port", sorted(METHODS))
def test_every_method_of_a_port_has_a_caller(port: str) -> None:
    assert [name for name in protocols()[port][1] if name not in asked()] == []


def test_only_what_is_asked_of_a_catalogue_counts_as_a_call(tmp_path: Path) -> None:
    module = tmp_path / "room.py"
    module.write_text(
        "def f(house, ledger, shelf):\n    house._catalogue.lease()\n    g(ledger.note)\n    shelf.put(house.document)\n"
    )
    assert set(methods_used(module)) == {"lease", "note"}
