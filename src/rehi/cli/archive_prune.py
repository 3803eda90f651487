"""``rehi archive prune``: the bytes that the sources' rules don't keep are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rehi.cli.output import json_option, open_house, show_json, show_table

if TYPE_CHECKING:
    from rehi.operations.retention import Prune


@click.command("prune")
@click.option(
    "--source", "source_id", type=click.IntRange(1, 2**63 - 1), metavar="N", help="Only by the rule of a source."
)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@json_option
@click.pass_context
def command(ctx: click.Context, source_id: int | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Drop the bytes of versions that the rules of their sources don't keep; nothing goes without a rule.

    `rehi source N --keep RULE` sets a rule. Dropped versions stay on record with their times, digests and sizes, and so
    does the text that was read from the newest. Bytes that any other version keeps stay. It may run while rehi is up, and
    what is broken off is finished the next time. The room is freed by `rehi archive compact`.

    \b
    Examples:
      rehi source 3 --keep "last 5 and one per month"
      rehi archive prune --dry-run
      rehi archive prune --source 3 --yes
    """
    from rehi.operations.retention import plan_prune, prune

    if as_json and not (yes or dry_run):
        raise click.UsageError("with --json nobody is asked: say --yes or --dry-run")
    with open_house(ctx) as house:
        plan = plan_prune(house, source_id=source_id)
        if as_json:
            show_json(plan if dry_run else prune(house, source_id=source_id))
            return
        _show(plan)
        if dry_run or not plan.shares or (not plan.bodies and not plan.unfinished):
            return
        if not yes and not _agreed():
            click.echo("Nothing was dropped.", err=True)
            raise click.Abort
        done = prune(house, source_id=source_id)
    if done.finished:
        click.echo(f"{done.finished:,} bodies of a prune that was broken off before were dropped.")
    click.echo(
        f"The bytes of {done.versions:,} versions were dropped, {done.bodies:,} bodies of {done.size:,} bytes. "
        "rehi archive compact frees their room."
    )


def _agreed() -> bool:
    """Ask at the terminal whether to go on; return False if nobody answers."""
    try:
        return click.confirm("Drop them for good?")
    except click.Abort:
        click.echo(err=True)
        return False


def _show(plan: Prune) -> None:
    if plan.unfinished:
        click.echo(f"A prune was broken off: {plan.unfinished:,} of its lists are gone through first.")
    if not plan.shares:
        click.echo("No source has a rule, so nothing goes. Set one with: rehi source N --keep RULE")
        return
    rows = [(str(row.source_id), row.name, row.rule, row.versions, row.bodies, row.size) for row in plan.shares]
    show_table(("no.", "source", "keeps", "versions that go", "bodies", "bytes"), rows, empty="")
    if not plan.bodies:
        click.echo("Nothing goes: all that there is is kept by the rules.")
