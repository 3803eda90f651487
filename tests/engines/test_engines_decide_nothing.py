"""Only the rooms and the pipeline decide: the SQL engine neither names what a visit came to, nor judges by it.

Nor does it count what is in a row or a step further, ask which version is newer, or say in which rooms a problem is solved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehi.model.host import HostState
from rehi.model.visit import Outcome

ENGINE = Path(__file__).parents[2] / "src" / "rehi" / "engines" / "sql"
# What an engine may say by itself: that it can't work, or that there is nothing under a name.
OWN_ERRORS = frozenset({"UserError", "EngineError", "CatalogueAway", "StoreVersionError", "DiskFull", "NotFound"})
JUDGED = frozenset({"Outcome", "Disposition", "HostState"})  # whose members only rooms, pipeline and model name
LOOKED_UP = frozenset({"FETCH", "EXTRACT"})  # the rooms whose problems are found by a resource's URL
COUNTED_ON = frozenset({"failures", "depth", "depths"})
VERDICTS = frozenset(outcome.value for outcome in Outcome) | {state.value for state in HostState}
SQL = re.compile(
    rf"\b(?:outcome|state)\W{{1,5}}(?:IN\s*\()?'(?:{'|'.join(sorted(VERDICTS - {'waiting'}))})'", re.IGNORECASE
)
COUNTING = re.compile(rf"\b(?:{'|'.join(sorted(COUNTED_ON))})\s*\+\s*1\b", re.IGNORECASE)


def decisions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the kind of each thing in a module by which an engine would decide."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="rehi.errors", names=names):
                yield from ((node.lineno, f"imports {one.name}") for one in names if one.name not in OWN_ERRORS)
            case ast.Import(names=names):
                yield from ((node.lineno, f"imports {one.name}") for one in names if one.name == "rehi.errors")
            case ast.Attribute(value=ast.Name(id=name), attr=member) if name in JUDGED and member.isupper():
                yield node.lineno, f"names {name}.{member}"
            case ast.Attribute(value=ast.Name(id="Stage"), attr=member) if member.isupper() and member not in LOOKED_UP:
                yield node.lineno, f"names Stage.{member}"
            case ast.Attribute(value=ast.Name(id="Problem"), attr="of"):
                yield node.lineno, "makes a problem of an error"
            case ast.Attribute(attr="disposition"):
                yield node.lineno, "looks at what happens next"
            case ast.BoolOp(values=values) if any(map(is_of_versions, values)):
                yield node.lineno, "concludes from new versions"
            case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)) if names_in(left) & COUNTED_ON:
                yield node.lineno, "counts on"
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE()], comparators=[right]) if (
                is_moment(left) or is_moment(right)
            ):
                yield node.lineno, "asks which version is newer"
            case ast.Compare(left=left, comparators=others):
                constants = (
                    one.value for each in (left, *others) for one in ast.walk(each) if isinstance(one, ast.Constant)
                )
                yield from ((node.lineno, f"compares with {one!r}") for one in constants if one in VERDICTS)
            case ast.MatchValue(value=ast.Constant(value=str(text))) if text in VERDICTS:
                yield node.lineno, f"compares with {text!r}"
            case ast.Constant(value=str(text)) if SQL.search(text):
                yield node.lineno, "selects by what a visit came to"
            case ast.Constant(value=str(text)) if COUNTING.search(text):
                yield node.lineno, "counts on"


def names_in(expression: ast.expr) -> set[str]:
    """Return the names of variables and attributes in an expression."""
    nodes = list(ast.walk(expression))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def is_of_versions(expression: ast.expr) -> bool:
    """Return whether this asks if visits have brought a resource new versions."""
    match expression:
        case ast.Attribute(value=ast.Name(id="change"), attr="versions"):
            return True
    return False


def is_moment(expression: ast.expr) -> bool:
    """Return whether this is when a version was taken; a column is not, by which rows are selected as somebody asks."""
    match expression:
        case ast.Attribute(value=ast.Attribute(attr="c")):
            return False
        case ast.Attribute(attr="taken_at"):
            return True
    return False


def modules() -> list[Path]:
    return sorted(path for path in ENGINE.rglob("*.py") if "migrations" not in path.parts)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ENGINE).as_posix())
def test_an_engine_stores_and_does_not_decide(path: Path) -> None:
    assert list(decisions(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "line",
    [
        "from rehi.errors import FetchError",
        "from rehi.errors import NotFound, RedirectLoop",
        "import rehi.errors",
        "bad = outcome is Outcome.FAILED",
        "worst = (Outcome.GONE,)",
        "problem = Problem.of(error, stage=stage, subject=url, at=now)",
        "again = error.disposition",
        "done = row.outcome == 'unchanged'",
        "bad = row.state in ('failed', 'gone')",
        "match row.outcome:\n    case 'new': ...",
        "query = text(\"SELECT 1 FROM visit WHERE outcome = 'new'\")",
        "query = text(\"SELECT 1 FROM resource WHERE state IN ('failed', 'gone')\")",
        "state = HostState.READY",
        "solved = [(stage, url) for stage in (Stage.EXTRACT, Stage.ENRICH)]",
        "told = [row.id for row, change in changes if change.versions or change.absence_ends_or_begins]",
        "newer = version.taken_at >= read_at.get(task.resource_id, version.taken_at)",
        "columns = {'failures': 'CASE WHEN new.failed = 1 THEN host.failures + 1 ELSE 0 END'}",
        "failures = row.failures + 1",
        "row = (source_id, at, depths.get(origin, 0) + 1)",
    ],
)
def test_a_decision_is_noticed(line: str) -> None:
    assert len(list(decisions(ast.parse(line)))) >= 1


@pytest.mark.parametrize(
    "line",
    [
        "from rehi.errors import NotFound",
        "outcome = Outcome(row.outcome)",
        "row = (outcome.value, seen.status)",
        "known = {outcome.value: outcome for outcome in Outcome}",
        "query = text(\"SELECT 1 FROM resource WHERE state <> 'waiting' AND due_at <= :now\")",
        "new = row.id in there.new",
        "keys = {key_of(Stage.FETCH, row.url): row.id for row in rows}",
        "query = query.where(version.c.taken_at <= until)",
        "told = [row.id for row, change in changes if change.tells_graph]",
    ],
)
def test_what_only_stores_is_let_be(line: str) -> None:
    assert list(decisions(ast.parse(line))) == []
