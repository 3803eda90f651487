"""``rehi problems``: what went wrong."""

from __future__ import annotations

from datetime import datetime

import click

from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.model.listing import Page
from rehi.model.problem import Stage


@click.command("problems")
@click.option("--stage", type=click.Choice([stage.value for stage in Stage]), help="Only those of one room.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="No more than these.")
@json_option
@click.pass_context
def command(ctx: click.Context, stage: str | None, limit: int, as_json: bool) -> None:
    """Show what went wrong, where, how often, since when, and what happens next.

    \b
    Examples:
      rehi problems
      rehi problems --stage fetch --json
    """
    with open_house(ctx) as house:
        rows, total = house.catalogue.problems(stage=Stage(stage) if stage else None, page=Page(limit=limit))
        if as_json:
            show_json({"total": total, "problems": rows})
            return
        table = [
            (row.stage, row.code, row.subject, row.message, row.count, _minute(row.first_at), _minute(row.last_at),
             row.next_step)
            for row in rows
        ]  # fmt: skip
        columns = ("room", "problem", "where", "what", "times", "first (UTC)", "last (UTC)", "next")
        show_table(columns, table, empty="No problems.")
        if total > len(rows):
            click.echo(f"{total - len(rows)} more; raise --limit to see them.")


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
