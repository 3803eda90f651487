"""Only the rooms and the pipeline decide: the SQL engine neither names what a visit came to, nor judges by it.

Nor does it count what is in a row or a step further, ask which version is newer, say in which rooms a problem is solved, work out
how long a host rests, combine what several sources order, or have a limit of its own for how much time means something.
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
COUNTED_ON = frozenset({"failures", "depth", "depths", "hops", "attempts"})
# The pace of hosts, how long they rest, and what sources want: an engine keeps these and hands them on.
WISHES = frozenset(
    {
        "delay",
        "strain",
        "rest",
        "least_rest",
        "weight",
        "weights",
        "promised",
        "frequency",
        "policy",
        "policies",
        "keep",
    }
)
CODECS = frozenset(
    {"read_claims", "write_claims", "to_json", "to_table", "cut_lines", "join_lines"}
)  # of how values are kept
VERDICTS = frozenset(outcome.value for outcome in Outcome) | {state.value for state in HostState}
SQL = re.compile(
    rf"\b(?:outcome|state)\W{{1,5}}(?:IN\s*\()?'(?:{'|'.join(sorted(VERDICTS - {'waiting'}))})'", re.IGNORECASE
)
COUNTING = re.compile(rf"\b(?:{'|'.join(sorted(COUNTED_ON))})\s*\+\s*1\b", re.IGNORECASE)
_PACES = "delay|strain|rest|weight"
RECKONING = re.compile(
    rf"[:.\b]?\b(?:{_PACES})\b\s*[<>*/+-]|[<>*/+-]\s*[:\w.]*\b(?:{_PACES})\b|\bmax\(\s*(?:{_PACES})\b", re.IGNORECASE
)


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
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("rehi.model."):
                yield from (
                    (node.lineno, f"asks {one.name} by itself")
                    for one in names
                    if one.name.islower() and one.name not in CODECS
                )
            case ast.BinOp(left=left, right=right) if not is_text(node) and (names_in(left) | names_in(right)) & WISHES:
                yield node.lineno, "reckons with paces or wishes"
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE()], comparators=[right]) if (
                names_in(left) | names_in(right)
            ) & WISHES:
                yield node.lineno, "compares paces or wishes"
            case ast.Compare(
                left=left, ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE()], comparators=[ast.Name(id=limit)]
            ) if limit.isupper() and is_time(left):
                yield node.lineno, f"judges a time by {limit}"
            case ast.Call(func=ast.Name(id="max" | "min"), args=[*args]) if set().union(*map(names_in, args)) & WISHES:
                yield node.lineno, "chooses among paces or wishes"
            case ast.Call(func=ast.Name(id="timedelta"), keywords=keywords) if any(
                names_in(one.value) & WISHES and not isinstance(one.value, ast.Call) for one in keywords
            ):
                yield node.lineno, "makes a rest of a pace"
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
            case ast.Constant(value=str(text)) if is_sql(text) and RECKONING.search(text):
                yield node.lineno, "reckons with paces"


def names_in(expression: ast.expr) -> set[str]:
    """Return the names of variables and attributes in an expression; columns are none, by which rows are listed."""
    nodes = list(ast.walk(expression))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute) and not is_column(node)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def is_column(node: ast.Attribute) -> bool:
    """Return whether this is a column of a table."""
    return isinstance(node.value, ast.Attribute) and node.value.attr == "c"


def is_text(expression: ast.BinOp) -> bool:
    """Return whether this joins or fills in texts, or sets of names."""
    return isinstance(expression.op, ast.Mod | ast.BitOr | ast.BitAnd) or any(
        isinstance(one, ast.Constant | ast.JoinedStr) and not isinstance(getattr(one, "value", ""), int | float)
        for one in (expression.left, expression.right)
    )


def is_sql(text: str) -> bool:
    """Return whether a text is SQL, or an expression of it, and no sentence."""
    return bool(re.search(r"\b(?:CASE|WHEN|SET|WHERE|SELECT|CAST|max)\b", text))


def is_time(expression: ast.expr) -> bool:
    """Return whether this is a moment or a span of time."""
    return bool(names_in(expression) & {"ahead", "at", "last", "now", "seen_at", "due_at", "seconds"})


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
        "wanted = Wanted(change.redirect_to, row.source_id, due, row.hops + 1)",
        "tried = [(row, attempts[row] + 1) for row in ids]",
        'rested = "CAST(:now + 1000000 * CASE WHEN delay > :rest THEN delay ELSE :rest END AS bigint)"',
        "pause_until = to_micros(now + timedelta(seconds=row.delay))",
        "rest = max(row.delay, least)",
        'fields = {"weight": max((source.weight for source in sources), default=1.0)}',
        "from rehi.model.claims import combine_orders, read_claims",
        "longest = at + rest",
        "ahead = last - at if last - at > _NOTICED else 0",
        "if ahead > _DAY:\n    move(ahead)",
        "held = row.keep if row.policy < other.policy else other.keep",
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
        "from rehi.model.claims import Claims, read_claims",
        "orders = SourceOrders(*columns)",
        "until = to_micros(rules.ready_after_loss(row.delay, now))",
        "trouble = or_(host.c.failures > 0, host.c.strain > 1)",
        "row = (release.host_id, float(release.delay), float(release.strain))",
        'query = text("SELECT delay, strain FROM host WHERE id = :id")',
        "if len(self.hosts) > _HOSTS:\n    self.hosts.clear()",
    ],
)
def test_what_only_stores_is_let_be(line: str) -> None:
    assert list(decisions(ast.parse(line))) == []
