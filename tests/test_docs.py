"""The docs can't drift: what is made from the code is up to date, and every example runs."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from rehi.builtin import BUILTIN
from rehi.cli import COMMANDS
from tests.cli.command_line import rehi
from tests.conftest import Harvested

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
MODULES = sorted((ROOT / "src").rglob("*.py"))


def examples() -> list[str]:
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            found += [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return found


@pytest.mark.parametrize("command", examples())
def test_every_example_runs(command: str, harvested: Harvested) -> None:
    program, *words = shlex.split(command)
    assert program == "rehi"
    result = rehi(*words, data=harvested.settings.data)
    assert result.returncode == 0, result.stderr


def test_there_are_examples() -> None:
    assert len(examples()) >= 8


@pytest.mark.parametrize("name", ["commands.md", "settings.md", "api.md"])
def test_pages_made_from_the_code_are_up_to_date(name: str) -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == generate.PAGES[name](), "run: make docs"


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_command_is_in_the_readme_or_the_command_page() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert all(f"## rehi {name}" in text for name in COMMANDS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_module_says_what_it_is_and_reads_on_a_few_screens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring
    assert len(docstring.splitlines()[0]) <= 120


def test_every_kind_of_part_has_a_row_in_the_contributors_table() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [group for group in BUILTIN if f"| `{group}` |" not in text] == []


def test_the_map_names_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for folder in (ROOT / "src" / "rehi").iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert f"`{folder.name}/`" in text, folder.name
