"""``rehi restore``: everything back from a backup, or a part of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rehi.cli.output import json_option, show_json
from rehi.cli.progress import bytes_bar

if TYPE_CHECKING:
    from rehi.operations.restore import Restored

PARTS = ("catalogue", "archive", "derived", "graph", "sources")


@click.command("restore")
@click.argument("place", metavar="PLACE")
@click.option(
    "--to", type=click.Path(path_type=Path), help="The data folder to make (default: the one in the settings)."
)
@click.option(
    "--at", metavar="NUMBER|TIME", help="Which backup: its number, or the last one until then; else the newest."
)
@click.option(
    "--only", type=click.Choice(PARTS), multiple=True, help="Only this part, into the data folder that is there."
)
@click.option("--force", is_flag=True, help="Move a data folder that is not empty aside.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, place: str, to: Path | None, at: str | None, only: tuple[str, ...], force: bool, as_json: bool
) -> None:
    """Bring a house back as it was, so that `rehi up` goes on with it.

    Every chunk is checked while it is read. The catalogue goes where the settings say: into the data folder, or into an empty
    database; what was on SQLite may go to PostgreSQL and the other way round. What is there already is never deleted: it is
    moved aside, and files that are as they should be stay.

    The restored folder is the same worker as before. Make sure that the one from which the backup came does not run any
    more, or has no catalogue, bucket or graph server in common with it.

    \b
    Examples:
      rehi restore /mnt/disk/backups --to rehi-data
      rehi restore s3://safe-place/rehi --at 2026-03-01
      rehi restore /mnt/disk/backups --only archive
    """
    from rehi.operations.backups import find_backup
    from rehi.operations.restore import restore_house, restore_parts
    from rehi.settings import load_settings

    config, given = ctx.obj
    settings = load_settings(config, **(given if to is None else given | {"data": to}))
    repository, backup = find_backup(settings, place, at=at)
    with bytes_bar("restoring", total=backup.bytes, quiet=as_json) as advance:
        if only:
            result = restore_parts(settings, repository, backup, only, on_progress=advance)
        else:
            result = restore_house(settings, repository, backup, force=force, on_progress=advance)
    if as_json:
        show_json(result)
    else:
        _show(result)


def _show(result: Restored) -> None:
    click.echo(
        f"Backup {result.backup} of {result.worker} is back in {result.data}: {', '.join(result.parts)}. "
        f"{result.files:,} files with {result.bytes:,} bytes were written, {result.kept:,} were there as they should be."
    )
    if result.left_in_bucket:
        click.echo(f"{result.left_in_bucket:,} files are in the archive's bucket, and stay there.")
    if result.aside:
        click.echo(f"What was there before is in {result.aside}.")
    if result.graph_anew:
        click.echo("The next harvest writes the graph again from the catalogue.")
    for note in result.notes:
        click.echo(f"Note from the time of the backup: {note}.")
    click.echo(
        f"This folder is the worker {result.worker} now: the one from which the backup came must not run beside it."
    )
