"""docs/dependencies.md names every package that is installed with rehi, and what is imported is declared."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "dependencies.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = (ROOT / "constraints.txt").read_text(encoding="utf-8")
# The page's sections, and what is declared for each.
SECTIONS = {
    "At run time": PROJECT["dependencies"],
    "Extras": [one for name, group in PROJECT["optional-dependencies"].items() if name != "dev" for one in group],
    "For development": PROJECT["optional-dependencies"]["dev"],
}
SHIPPED_FOR_TESTS = "testing"  # the folder that may import what is there for development
LATER = {"compression"}  # modules of the standard library from 3.14 on
PARTS = {"pydantic-core": "pydantic"}  # packages of which another demands an exact version


def licences() -> ModuleType:
    """The command behind ``make licences``."""
    spec = importlib.util.spec_from_file_location("licences", ROOT / "docs" / "licences.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_licences_of_all_that_is_installed_with_rehi_were_looked_at() -> None:
    assert list(licences().report()) == []


@pytest.mark.parametrize(
    "says",
    ["GPL-3.0-only", "GNU Affero General Public License v3", "AGPL-3.0", "LGPL-2.1-only", "", "All rights reserved"],
)
def test_a_licence_that_does_not_go_with_ours_is_noticed(says: str) -> None:
    assert licences().judge("some-package", says).startswith("some-package: ")


def test_what_is_allowed_by_name_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8").lower()
    assert [name for name in licences().LESSER if name.removesuffix("-binary") not in page] == []
    assert "vabamorf" in page


def normal(name: str) -> str:
    """Return a package's name as the standard for them says."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(requirements: list[str]) -> set[str]:
    names = {normal(re.split(r"[\[<>=!~; ]", one, maxsplit=1)[0]) for one in requirements}
    return names - {"rehi"}


def described(section: str) -> set[str]:
    """Return the packages in the first column of a section's table."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")
    rows = re.findall(r"^\| ([^|]+) \|", rest.partition("\n## ")[0], re.MULTILINE)
    return {normal(name.strip()) for row in rows[1:] for name in row.split(",")}


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_names_what_is_declared_and_nothing_else(section: str) -> None:
    assert described(section) == declared(SECTIONS[section])


@pytest.mark.parametrize("section", SECTIONS)
def test_every_version_is_pinned(section: str) -> None:
    pinned = {normal(line.partition("==")[0]) for line in PINNED.splitlines() if "==" in line}
    assert declared(SECTIONS[section]) - pinned == set()


@cache
def distributions() -> dict[str, list[str]]:
    return {module: [normal(name) for name in names] for module, names in packages_distributions().items()}


def imported(path: Path) -> Iterator[str]:
    """Yield the first part of each module that a file imports, but for our own and the standard library's."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        else:
            continue
        yield from (first for name in names if (first := name.partition(".")[0]) not in sys.stdlib_module_names)


def test_everything_that_is_imported_is_declared() -> None:
    always = declared(SECTIONS["At run time"] + SECTIONS["Extras"])
    undeclared = set()
    for path in sorted((ROOT / "src" / "rehi").rglob("*.py")):
        place = path.relative_to(ROOT / "src" / "rehi")
        allowed = always | (declared(SECTIONS["For development"]) if place.parts[0] == SHIPPED_FOR_TESTS else set())
        for module in set(imported(path)) - {"rehi", "_typeshed"} - LATER:
            packages = {PARTS.get(name, name) for name in distributions().get(module, [module])}
            if not allowed & packages:
                undeclared.add(f"{place} imports {module}")
    assert undeclared == set()
