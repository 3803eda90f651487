"""``rehi problems``: what went wrong."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from rehi.cli.output import json_option, open_house, printable, show_json, show_table
from rehi.model.problem import Problem, Stage

if TYPE_CHECKING:
    from rehi.operations.problems import ProblemList


@click.command("problems")
@click.option("--stage", type=click.Choice([stage.value for stage in Stage]), help="Only those of one room.")
@click.option("--code", default="", metavar="CLASS", help="Only those of one class, as in timed-out.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="No more than these.")
@json_option
@click.pass_context
def command(ctx: click.Context, stage: str | None, code: str, limit: int, as_json: bool) -> None:
    """Show what went wrong, where, how often, since when, and what happens next.

    First how many problems there are of each class, then the problems, the newest first.

    \b
    Examples:
      rehi problems
      rehi problems --code timed-out
      rehi problems --stage fetch --json
    """
    from rehi.operations.problems import list_problems

    with open_house(ctx) as house:
        problems = list_problems(house, stage=Stage(stage) if stage else None, code=code, limit=limit)
    if as_json:
        show_json(problems)
    else:
        _show(problems, code)


def _show(problems: ProblemList, code: str) -> None:
    from rehi.operations.problems import explain_no_problems

    if not problems.problems:
        click.echo(printable(explain_no_problems(problems, code)))
        return
    shown = {(row.stage, row.code) for row in problems.problems}
    classes = [one for one in problems.classes if not code or (one.stage, one.code) in shown]
    counts = [(one.stage, one.code, one.problems, _minute(one.last_at)) for one in classes]
    show_table(("room", "problem", "how many", "last (UTC)"), counts, empty="")
    columns = ("room", "problem", "where", "what", "times", "first (UTC)", "last (UTC)", "next")
    show_table(columns, [_row(row) for row in problems.problems], empty="")
    if code and len(advice := {row.advice for row in problems.problems}) == 1 and (only := advice.pop()):
        click.echo(printable(only))
    if problems.total > len(problems.problems):
        click.echo(f"{problems.total - len(problems.problems):,} more; raise --limit to see them.")


def _row(row: Problem) -> tuple[str, str, str, str, int, str, str, str]:
    first, last = _minute(row.first_at), _minute(row.last_at)
    return row.stage, row.code, row.subject, row.message, row.count, first, last, row.next_step


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
