"""``rehi backup prune``: old backups go."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json


@click.command("prune")
@click.argument("place", metavar="PLACE")
@click.option(
    "--keep", type=click.IntRange(1), required=True, metavar="N", help="How many backups of each worker stay."
)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@json_option
@click.pass_context
def command(ctx: click.Context, place: str, keep: int, dry_run: bool, as_json: bool) -> None:
    """Delete all but the newest backups, and what only they needed, as well as what broken-off backups have left.

    It is refused while somebody backs up to the same place.

    \b
    Examples:
      rehi backup prune /mnt/disk/backups --keep 30
      rehi backup prune /mnt/disk/backups --keep 7 --dry-run
    """
    from rehi.operations.backups import prune_backups

    with open_house(ctx) as house:
        done = prune_backups(house, place, keep=keep, dry_run=dry_run)
    if as_json:
        show_json(done)
        return
    verb = "would go" if dry_run else "are gone"
    click.echo(
        f"{len(done.backups):,} backups and {done.chunks:,} chunks with {done.bytes:,} bytes {verb}; {done.kept:,} backups stay."
    )
