"""``rehi backup PLACE``: everything as it is now, stored elsewhere."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json
from rehi.cli.progress import bytes_bar


@click.command("make")
@click.argument("place", metavar="PLACE")
@click.option("--verify", "reads_back", is_flag=True, help="Read the whole backup back, and check every digest.")
@click.option("--read-all", is_flag=True, help="Read also files whose size and time have not changed.")
@click.option("--without-bucket", is_flag=True, help="Leave out what the archive's own bucket has.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, place: str, reads_back: bool, read_all: bool, without_bucket: bool, as_json: bool
) -> None:
    """Back catalogue, archive, derived files and graph up, as they are at this moment.

    It may run while rehi is up. What the place has already is not stored again. A backup that was broken off leaves the others
    as they were, and the next one goes on with what it has stored. Secrets are in no backup.

    \b
    Examples:
      rehi backup /mnt/disk/backups
      rehi backup s3://safe-place/rehi --verify
    """
    from rehi.operations.backup import backup_size, make_backup
    from rehi.operations.backups import verify_backups

    with open_house(ctx) as house:
        with bytes_bar("backing up", total=backup_size(house), quiet=as_json) as advance:
            result = make_backup(house, place, read_all=read_all, with_bucket=not without_bucket, on_progress=advance)
        checked = verify_backups(house, place, number=result.backup.number) if reads_back else None
    if as_json:
        show_json({"result": result, "verified": checked})
    else:
        backup = result.backup
        click.echo(
            f"Backup {backup.number} of {backup.worker} in {result.where}: {backup.files:,} files, {backup.bytes:,} bytes. "
            f"New: {backup.new_chunks:,} of {backup.chunks:,} chunks, {backup.new_bytes:,} bytes as they are stored; "
            f"{result.reused_files:,} files had not changed. {result.seconds:,.1f} s."
        )
        for note in backup.notes:
            click.echo(f"Note: {note}.")
        for fault in checked.faults if checked else ():
            click.echo(f"NOT WELL: {fault}")
        if checked and checked.ok:
            click.echo(f"Read back: {checked.read:,} chunks, {checked.bytes:,} bytes, all as they should be.")
    ctx.exit(1 if checked and not checked.ok else 0)
