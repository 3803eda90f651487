"""What is known of media types stands in one place: no other module has a table of its own, or the magic of gzip or zstd."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rehi.model.media_type import GZIP_MAGIC, ZSTD_DICTIONARY_MAGIC, ZSTD_MAGIC

SOURCE = Path(__file__).parents[1] / "src" / "rehi"
_TYPE = re.compile(r"(application|audio|font|image|message|model|multipart|text|video)/[a-z0-9.+*-]+(\s*;.*)?")
_MAGIC = (GZIP_MAGIC, ZSTD_MAGIC, ZSTD_DICTIONARY_MAGIC)
_COLLECTION = (ast.Dict, ast.Set, ast.List, ast.Tuple)

# What these list is no knowledge of types, but what this program offers or pretends.
ALLOWED: Mapping[str, str] = {
    "builtin.py": "which reader reads what",
    "graph/results.py": "the types in which SPARQL results are sent, by the short names that clients give",
    "operations/table.py": "the types in which operations answer",
    "operations/cdx.py": "the types in which CDX lines are sent",
    "serve/response_descriptions.py": "types of answers that are text, though their names do not say so",
    "testing/contracts/graph.py": "the types in which the contract asks a graph to answer",
    "testing/world/log.py": "what a crawl log says of the practice web",
    "testing/world/traps.py": "types that the practice web declares wrongly",
}


def types_in(node: ast.AST) -> Iterator[str]:
    """Yield the media types that a literal names, in the literals inside it and in words with blanks between them."""
    match node:
        case ast.Constant(value=str(text)):
            words = text.split()
            yield from words if len(words) > 2 and all(map(_TYPE.fullmatch, words)) else ()
            if _TYPE.fullmatch(text):
                yield text
        case ast.Dict(keys=keys, values=values):
            for child in [*keys, *values]:
                if child is not None:
                    yield from types_in(child)
        case ast.Set(elts=children) | ast.List(elts=children) | ast.Tuple(elts=children):
            for child in children:
                yield from types_in(child)


def tables(path: Path) -> list[int]:
    """Return the lines of a module's literals that name three or more media types."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    literals = (node for node in nodes if isinstance(node, (*_COLLECTION, ast.Constant)))
    return [node.lineno for node in literals if len(set(types_in(node))) >= 3]


def with_tables(root: Path) -> dict[str, list[int]]:
    """Return the modules under a folder that have a table of media types, with its lines."""
    files = {path.relative_to(root).as_posix(): tables(path) for path in sorted(root.rglob("*.py"))}
    return {file: lines for file, lines in files.items() if lines}


def with_magic(root: Path) -> dict[str, list[int]]:
    """Return the modules under a folder that have the magic of gzip or zstd in a literal, with its lines."""
    files = {path.relative_to(root).as_posix(): magic(path) for path in sorted(root.rglob("*.py"))}
    return {file: lines for file, lines in files.items() if lines}


def magic(path: Path) -> list[int]:
    """Return the lines of a module's literals in which the magic of gzip or zstd stands."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    literals = ((node.lineno, node.value) for node in nodes if isinstance(node, ast.Constant))
    return [line for line, value in literals if isinstance(value, bytes) and any(one in value for one in _MAGIC)]


def test_no_other_module_has_a_table_of_media_types() -> None:
    others = {file: lines for file, lines in with_tables(SOURCE).items() if not file.startswith("model/media_")}
    assert others.keys() == ALLOWED.keys(), "ask rehi.model.media; what nothing needs any more goes from ALLOWED"


@pytest.mark.parametrize(
    "line",
    [
        'x = {"text/html": "html", "text/csv": "csv", "image/png": "png"}',
        'x = {"html": "text/html", "csv": "text/csv", "png": "image/png"}',
        'x = frozenset(["text/html", "text/csv", "application/vnd.ms-excel"])',
        'x = {"text/html", "text/csv", "text/plain; charset=utf-8"}',
        'x = ((0, b"%PDF", "application/pdf"), (0, b"BM", "image/bmp"), (4, b"ftyp", "video/mp4"))',
        'x = "text/html text/csv image/png".split()',
    ],
)
def test_a_table_is_noticed_in_any_form(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(line)
    assert with_tables(tmp_path).keys() == {"a.py"}


@pytest.mark.parametrize(
    "line",
    ['x = {"text/html", "text/csv"}', 'x = ["a/b", "c/d", "e/f"]', 'x = f("text/html"), f("text/csv"), f("image/png")'],
)
def test_single_types_are_no_table(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(line)
    assert with_tables(tmp_path) == {}


def test_no_other_module_has_the_magic_of_gzip_or_zstd() -> None:
    others = [file for file in with_magic(SOURCE) if not file.startswith("model/")]
    assert others == [], "use GZIP_MAGIC or ZSTD_MAGIC of rehi.model.media_type"


@pytest.mark.parametrize(
    "line",
    [r'x = b"\x1f\x8b"', r'x = y.startswith(b"\x1f\x8b\x08\0")', r'x = (1, b"(\xb5/\xfd")', r'x = b"\x5d\x2a\x4d\x18"'],
)
def test_magic_is_noticed_in_any_form(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(line)
    assert with_magic(tmp_path) == {"a.py": [1]}


@pytest.mark.parametrize("line", [r'x = b"\x1f"', r'x = b"WARC/1.0"', 'x = "gzip"'])
def test_other_bytes_are_no_magic(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(line)
    assert with_magic(tmp_path) == {}
