"""Names: a class name stands for one class, variables are named after what they hold, modules after one noun."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
SOURCE = PROJECT / "src" / "rehi"
# Variables and functions that are called so, or so after underscores, tell how their value came, not what it is.
HOW_IT_CAME = frozenset({"said", "unsaid", "found", "told", "came", "contents"})
NO_NOUN = frozenset(
    {"util", "utils", "misc", "common", "helper", "helpers", "here", "kept", "past", "described", "installed"}
)
POETRY = frozenset({"veil", "farewell", "remains", "beginning", "newcomer", "errand", "likeness", "droppings", "desk"})
TESTS = PROJECT / "tests"
NAMED_BY_OTHERS = frozenset({"Handler"})  # what http.server calls a class that answers, within a test's server


def modules(root: Path) -> Iterator[tuple[str, ast.Module]]:
    """Yield the path and the syntax tree of each module under a folder."""
    for path in sorted(root.rglob("*.py")):
        yield path.relative_to(root).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def classes_of_one_name(*roots: Path) -> dict[str, list[str]]:
    """Return the names that stand for several classes, with their modules; ``_Body`` and ``Body`` are one name."""
    files = defaultdict(list)
    for root in roots:
        for file, tree in modules(root):
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    files[node.name.lstrip("_")].append(f"{root.name}/{file}")
    return {name: where for name, where in files.items() if len(where) > 1}


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Yield the name of each variable as often as it is bound (assigned, looped over, caught …), and of each function."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)) | ast.alias(asname=str(name)):
                yield name


def bindings(root: Path) -> Counter[str]:
    """Return the modules in which something is called by how it came, with how often."""
    names = ((file, name.lstrip("_")) for file, tree in modules(root) for name in bound_names(tree))
    return Counter(file for file, name in names if name in HOW_IT_CAME)


def without_docstring(root: Path) -> list[str]:
    """Return the modules that do not say what they are."""
    return [file for file, tree in modules(root) if not (ast.get_docstring(tree) or "").strip()]


def without_noun(root: Path) -> list[str]:
    """Return the modules and packages whose name is no noun of their own."""
    return [file for file, _ in modules(root) if not NO_NOUN.isdisjoint(_own_names(file))]


def without_plain_name(root: Path) -> list[str]:
    """Return the modules and packages whose name only those can guess who know what is in them."""
    return [file for file, _ in modules(root) if any(POETRY & set(name.split("_")) for name in _own_names(file))]


def _own_names(file: str) -> list[str]:
    """Return the names of a module and its packages; that of a test is the name of what it tests."""
    return [name.removeprefix("test_") for name in Path(file).with_suffix("").parts]


def test_a_class_name_stands_for_one_class() -> None:
    several = classes_of_one_name(SOURCE, PROJECT / "bench", PROJECT / "eval")
    assert several == {}, "rename all but one of them"


def test_a_class_name_stands_for_one_class_in_the_tests_too() -> None:
    several = {name: where for name, where in classes_of_one_name(TESTS).items() if name not in NAMED_BY_OTHERS}
    assert several == {}, "rename all but one of them"


@pytest.mark.parametrize("root", [SOURCE, PROJECT / "bench", PROJECT / "eval"], ids=["src", "bench", "eval"])
def test_variables_are_named_after_what_they_hold(root: Path) -> None:
    assert bindings(root) == {}, "say what the variable holds, as in claims, rows, redirect"


@pytest.mark.parametrize("root", [SOURCE, TESTS], ids=["src", "tests"])
def test_every_module_says_what_it_is(root: Path) -> None:
    assert without_docstring(root) == []


@pytest.mark.parametrize("root", [SOURCE, TESTS], ids=["src", "tests"])
def test_every_module_is_named_after_one_noun_that_can_be_guessed(root: Path) -> None:
    assert without_noun(root) == []
    assert without_plain_name(root) == []


def test_a_second_class_of_a_name_is_noticed_also_in_a_function(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class Body: ...\nclass Other: ...\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.py").write_text("def f():\n    class _Body: ...\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "e.py").write_text("class Other: ...\n")
    assert classes_of_one_name(tmp_path / "b", tmp_path / "d") == {}
    root = tmp_path.name
    assert classes_of_one_name(tmp_path) == {
        "Body": [f"{root}/a.py", f"{root}/b/c.py"],
        "Other": [f"{root}/a.py", f"{root}/d/e.py"],
    }


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
        "told = 1",
        "_contents = 1",
        "self._said = 1",
        "def _came(): ...",
        "async def unsaid(): ...",
    ],
)
def test_a_variable_is_noticed_wherever_it_is_bound(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(f"{line}\n")
    assert bindings(tmp_path)["a.py"] == 1


@pytest.mark.parametrize("line", ["value.found = 1", "f(said=1)", "found_at = 1", "print(found)"])
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


def test_a_poetic_name_is_noticed_of_a_module_and_of_its_test(tmp_path: Path) -> None:
    for name in ("veil", "test_veil", "the_beginning", "unveiling", "redaction"):
        (tmp_path / f"{name}.py").write_text("")
    (tmp_path / "test_here.py").write_text("")
    assert without_plain_name(tmp_path) == ["test_veil.py", "the_beginning.py", "veil.py"]
    assert without_noun(tmp_path) == ["test_here.py"]
