"""Names: a class name stands for one class, variables are named after what they hold, modules after one noun."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rehi"
HOW_IT_CAME = frozenset({"said", "found"})  # variables that are called so tell how their value came, not what it is
NO_NOUN = frozenset({"util", "utils", "misc", "common", "helper", "helpers"})

# What is still to be renamed. An entry may only go or become smaller.
SEVERAL_CLASSES: Mapping[str, frozenset[str]] = {}
BINDINGS: Mapping[str, int] = {
    "engines/sql/sources/port.py": 3,
    "operations/imports.py": 3,
    "pipeline/foreign.py": 1,
    "pipeline/imports.py": 9,
    "pipeline/judgement.py": 1,
    "pipeline/repetition.py": 13,
    "sources/detect.py": 1,
}


def modules(root: Path) -> Iterator[tuple[str, ast.Module]]:
    """Yield the path and the syntax tree of each module under a folder."""
    for path in sorted(root.rglob("*.py")):
        yield path.relative_to(root).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def classes_of_one_name(root: Path) -> dict[str, list[str]]:
    """Return the names that stand for several classes, with their modules; ``_Body`` and ``Body`` are one name."""
    files = defaultdict(list)
    for file, tree in modules(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files[node.name.lstrip("_")].append(file)
    return {name: where for name, where in files.items() if len(where) > 1}


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Yield the name of each variable as often as it is bound: assigned, looped over, a parameter, caught, matched."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)) | ast.alias(asname=str(name)):
                yield name


def bindings(root: Path) -> Counter[str]:
    """Return for each module how often a variable is called by how it came."""
    return Counter({file: sum(name in HOW_IT_CAME for name in bound_names(tree)) for file, tree in modules(root)})


def without_docstring(root: Path) -> list[str]:
    """Return the modules that do not say what they are."""
    return [file for file, tree in modules(root) if not (ast.get_docstring(tree) or "").strip()]


def without_noun(root: Path) -> list[str]:
    """Return the modules and packages whose name is no noun of their own."""
    return [file for file, _ in modules(root) if not NO_NOUN.isdisjoint(Path(file).with_suffix("").parts)]


def test_a_class_name_stands_for_one_class() -> None:
    several = {
        name: where
        for name, where in classes_of_one_name(SOURCE).items()
        if not frozenset(where) <= SEVERAL_CLASSES.get(name, frozenset()) or len(where) > len(frozenset(where))
    }
    assert several == {}, "rename all but one of them"


def test_variables_are_named_after_what_they_hold() -> None:
    more = {file: count for file, count in bindings(SOURCE).items() if count > BINDINGS.get(file, 0)}
    assert more == {}, "say what the variable holds, as in claims, rows, redirect"


def test_every_module_says_what_it_is() -> None:
    assert without_docstring(SOURCE) == []


def test_every_module_is_named_after_one_noun() -> None:
    assert without_noun(SOURCE) == []


def test_a_second_class_of_a_name_is_noticed_also_in_a_function(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class Body: ...\nclass Other: ...\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.py").write_text("def f():\n    class _Body: ...\n")
    assert classes_of_one_name(tmp_path) == {"Body": ["a.py", "b/c.py"]}


@pytest.mark.parametrize(
    "line",
    [
        "found = 1",
        "said: str",
        "for found in (): ...",
        "[found for found in ()]",
        "if (found := 1): ...",
        "with open('') as found: ...",
        "def f(said): ...",
        "def f(*, said=1): ...",
        "lambda found: 1",
        "a, (b, *found) = 1, (2, 3)",
        "import re as found",
        "try: ...\nexcept OSError as found: ...",
        "match 1:\n    case found: ...",
        "match 1:\n    case [_, *found]: ...",
        "match 1:\n    case {**found}: ...",
    ],
)
def test_a_variable_is_noticed_wherever_it_is_bound(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(f"{line}\n")
    assert bindings(tmp_path)["a.py"] == 1


@pytest.mark.parametrize("line", ["value.found = 1", "f(said=1)", "def found(): ...", "found_at = 1", "print(found)"])
def test_what_is_no_variable_is_let_be(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(f"{line}\n")
    assert bindings(tmp_path)["a.py"] == 0


def test_modules_without_a_docstring_or_a_noun_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "things.py").write_text('"""Things."""\n')
    (tmp_path / "utils.py").write_text('"""  """\n')
    (tmp_path / "things.py").write_text("x = 1\n")
    assert without_docstring(tmp_path) == ["things.py", "utils.py"]
    assert without_noun(tmp_path) == ["common/things.py", "utils.py"]
