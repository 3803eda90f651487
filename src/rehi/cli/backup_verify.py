"""``rehi backup verify``: whether every backup can be restored."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json
from rehi.cli.progress import bytes_bar

SHOWN = 50


@click.command("verify")
@click.argument("place", metavar="PLACE")
@click.option("--at", "number", type=click.IntRange(1), metavar="NUMBER", help="Only this backup.")
@click.option(
    "--sample", type=click.FloatRange(0, 100), metavar="PERCENT", help="Read this share of the chunks, chosen by lot."
)
@click.option("--mend", is_flag=True, help="Set damaged chunks aside, so that the next backup stores them again.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, place: str, number: int | None, sample: float | None, mend: bool, as_json: bool
) -> None:
    """Read every chunk of every backup and check its digest; exit with 1 if something is missing or damaged.

    With --sample all chunks are looked for, and some of them are read.

    \b
    Examples:
      rehi backup verify /mnt/disk/backups
      rehi backup verify s3://safe-place/rehi --sample 5
      rehi backup verify /mnt/disk/backups --mend && rehi backup /mnt/disk/backups --read-all
    """
    from rehi.operations.backups import verify_backups

    with open_house(ctx) as house, bytes_bar("verifying", total=0, quiet=as_json) as advance:
        done = verify_backups(
            house, place, number=number, percent=100 if sample is None else sample, mend=mend, on_progress=advance
        )
    if as_json:
        show_json(done)
    else:
        for fault in done.faults[:SHOWN]:
            click.echo(f"NOT WELL: {fault}")
        if len(done.faults) > SHOWN:
            click.echo(f"{len(done.faults) - SHOWN:,} more; --json shows all.")
        looked = (
            f"{done.backups:,} backups, {done.files:,} files, {done.chunks:,} chunks, of which {done.read:,} were read"
        )
        click.echo(f"{looked}: {'all is well' if done.ok else f'{len(done.faults):,} things are not well'}.")
        if mend and done.damaged:
            click.echo(
                "The damaged chunks are set aside. `rehi backup --read-all` stores again what the house still has."
            )
    ctx.exit(0 if done.ok else 1)
