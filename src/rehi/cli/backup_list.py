"""``rehi backup list``: the backups in a place."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json, show_table


@click.command("list")
@click.argument("place", metavar="PLACE")
@json_option
@click.pass_context
def command(ctx: click.Context, place: str, as_json: bool) -> None:
    """List the backups in a place: number, time, worker, and what each holds and has stored.

    \b
    Examples:
      rehi backup list /mnt/disk/backups
      rehi backup list s3://safe-place/rehi --json
    """
    from rehi.operations.backups import list_backups

    with open_house(ctx) as house:
        backups = list_backups(house, place)
    if as_json:
        show_json(backups)
        return
    columns = ("number", "made at (UTC)", "worker", "files", "bytes", "new bytes stored", "notes")
    rows = [
        (one.number, one.made_at, one.worker, one.files, one.bytes, one.new_bytes, len(one.notes)) for one in backups
    ]
    show_table(columns, rows, empty="There is no finished backup there.")
