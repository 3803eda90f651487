"""What the pages name is there: files, make targets with their NAME, commands with their options, settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import eval.__main__ as evaluations
from bench.__main__ import find_benches
from rehi.cli import cli
from rehi.settings import HostSettings, Settings, describe_settings

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
CODE = re.compile(r"```.*?```", re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
FILE = re.compile(r"[\w-]+(?:/[\w-]+)*\.(?:py|md)")
# Folders from which pages name files, the nearest first.
BASES = (
    ROOT,
    ROOT / "src",
    ROOT / "src" / "rehi",
    ROOT / "src" / "rehi" / "engines",
    ROOT / "docs",
    ROOT / "tests" / "plugins" / "weather",
)
# What lies in somebody's data folder, is made by make, or is somebody's own.
ELSEWHERE = re.compile(r"archive/(?:\.brought|\.sealed|torn)/?|\.venv/bin/rehi|cli/<name>\.py")
MAKE = re.compile(r"\bmake +((?:[\w-]+|[A-Z_]+=\S+)(?: +[A-Z_]+=(?:\"[^\"]*\"|[^\s`,.;:)]+))*)")
REHI = re.compile(r"(?:^|[\s/$('])rehi((?: +(?:\"[^\"]*\"|[^\s|;&>#`()]+))*)")


def spans(page: Path) -> list[str]:
    """What stands between backticks, outside of blocks of code."""
    return SPAN.findall(CODE.sub("", page.read_text(encoding="utf-8")))


def code_lines(page: Path) -> list[str]:
    blocks = CODE.findall(page.read_text(encoding="utf-8"))
    return [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()[1:-1]]


def named_files(page: Path) -> Iterator[str]:
    """Yield the files and folders of the project that a page names."""
    tops = {entry.name for base in BASES[:3] for entry in base.iterdir()}
    for span in spans(page):
        is_path = PATH.fullmatch(span) and "/" in span.rstrip("/") and span.partition("/")[0] in tops
        if (is_path or FILE.fullmatch(span)) and not ELSEWHERE.fullmatch(span):
            yield span.rstrip("/")
    for line in code_lines(page):
        yield from (word for word in re.findall(r"[\w/.-]+\.py\b", line) if not ELSEWHERE.fullmatch(word))


def exists(name: str) -> bool:
    """Whether there is such a file: from one of the folders from which pages name them, or anywhere by its name alone."""
    if any((base / name).exists() for base in BASES):
        return True
    return "/" not in name and any(
        next((ROOT / top).rglob(name), None) for top in ("src", "tests", "bench", "eval", "docs")
    )


def soak_tests() -> str:
    """The names of the long runs, with those of their modules, as -k looks for them."""
    names = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        functions = re.findall(r"@pytest\.mark\.soak\b.*?\ndef (test_\w+)", path.read_text(encoding="utf-8"), re.DOTALL)
        names += [f"{path.name} {function}" for function in functions]
    return "\n".join(names)


def wrong_target(words: str) -> str:
    """Return what is wrong with the words after make; empty if nothing is."""
    target, *values = words.split()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    if not re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE):
        return f"there is no target {target}"
    name = next((value.partition("=")[2] for value in values if value.startswith("NAME=")), "")
    known = {
        "bench": " ".join(find_benches(ROOT / "bench")),
        "eval": " ".join((*evaluations.NAMES, *evaluations.ON_REQUEST)),
        "soak": soak_tests(),
    }
    if name and (name not in known.get(target, "") if target == "soak" else name not in known.get(target, "").split()):
        return f"make {target} has no NAME={name}"
    return next(
        (
            f"nobody reads {value}"
            for value in values
            if f"$({value.partition('=')[0]})" not in makefile and not value.startswith("REHI_")
        ),
        "",
    )


def wrong_command(words: str) -> str:
    """Return what is wrong with the words after rehi; empty if nothing is."""
    command: click.Command = cli
    context = click.Context(cli, info_name="rehi")
    for word in words.split():
        word = word.strip("\"',.")
        if word.startswith("-") and word.strip("-"):
            options = {option for one in command.get_params(context) for option in (*one.opts, *one.secondary_opts)}
            if word.partition("=")[0] not in options:
                return f"{context.command_path} has no {word}"
        elif isinstance(command, click.Group) and re.fullmatch(r"[a-z][a-z-]*", word):
            below = command.get_command(context, word)
            if below is None:
                return f"{context.command_path} has no command {word}"
            command, context = below, click.Context(below, info_name=word, parent=context)
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_named_is_there(page: Path) -> None:
    assert sorted({name for name in named_files(page) if not exists(name)}) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_target_of_make_is_there(page: Path) -> None:
    if page.name == "commands.md":
        pytest.skip("it is made from the commands")
    targets = [
        words
        for text in (*spans(page), *code_lines(page))
        for words in MAKE.findall(text)
        if text.lstrip().startswith(("make", "REHI_"))
    ]
    assert [wrong for words in targets if (wrong := wrong_target(words))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_there_with_its_options(page: Path) -> None:
    if page.name == "commands.md":
        pytest.skip("it is made from the commands")
    texts = [
        *(span for span in spans(page) if re.match(r"(?:\S+=\S+ )*rehi ", span)),
        *(line for line in code_lines(page) if re.match(r"(?:\S+=\S+ |\S+/)*rehi ", line)),
    ]
    assert [wrong for text in texts for words in REHI.findall(text) if (wrong := wrong_command(words))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_is_there(page: Path) -> None:
    names = {row.name for row in describe_settings(Settings.model_construct())} | {
        f"fetch.hosts.{name}" for name in HostSettings.model_fields
    }
    tables = {name.partition(".")[0] for name in names if "." in name}
    named = {
        span
        for span in spans(page)
        if re.fullmatch(r"[a-z_]+(?:\.[a-z_]+)+", span) and span.partition(".")[0] in tables
    }
    assert (
        sorted(span for span in named if span not in names and not span.endswith((".py", ".md", ".toml", ".lock")))
        == []
    )
    variables = {span for span in spans(page) if re.fullmatch(r"REHI_[A-Z_]+", span)}
    of_settings = {f"REHI_{name.upper().replace('.', '__')}" for name in names}
    known = of_settings | set(
        re.findall(
            r"REHI_[A-Z_]+",
            "".join(
                path.read_text(encoding="utf-8")
                for top in ("src", "tests", "bench", "eval")
                for path in (ROOT / top).rglob("*.py")
            ),
        )
    )
    assert sorted(variables - known) == []


def test_what_is_wrong_is_noticed() -> None:
    assert wrong_target("nowhere") == "there is no target nowhere"
    assert wrong_target("bench NAME=nothing") == "make bench has no NAME=nothing"
    assert wrong_target("soak NAME=nothing") == "make soak has no NAME=nothing"
    assert wrong_target("soak NAME=growth") == wrong_target("bench NAME=walk") == wrong_target("eval NAME=names") == ""
    assert wrong_command(" harvest --backwards") == "rehi harvest has no --backwards"
    assert wrong_command(" archive nothing") == "rehi archive has no command nothing"
    assert wrong_command(" source 1 --keep none") == ""
    assert not exists("serve/nothing.py")
    assert exists("serve/application.py")
    assert exists("connections.py")


def test_there_is_much_to_look_at() -> None:
    assert len([name for page in PAGES for name in named_files(page)]) > 150
