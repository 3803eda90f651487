"""``rehi backup``: everything stored again elsewhere, and whether that is whole."""

from __future__ import annotations

import click

from rehi.cli.lazy_group import LazyGroup

# name: (module, what it does). Kept here so that the help imports nothing else.
SUBCOMMANDS = {
    "make": ("rehi.cli.backup_make", "Back everything up; the word `make` may be left out."),
    "list": ("rehi.cli.backup_list", "List the backups in a place."),
    "verify": ("rehi.cli.backup_verify", "Check that every backup is whole."),
    "prune": ("rehi.cli.backup_prune", "Delete all but the newest backups."),
}


@click.group("backup", cls=LazyGroup, table=SUBCOMMANDS, default="make")
def command() -> None:
    """Back everything up to a folder or a bucket, while a harvest goes on, and look after the backups there.

    A place is a folder, s3://bucket/prefix, gs://… or az://…; a bucket is reached with `archive.endpoint`, `archive.region` and
    the credentials in the environment. `rehi restore` brings everything back.

    \b
    Examples:
      rehi backup /mnt/disk/backups
      rehi backup s3://safe-place/rehi
      rehi backup list /mnt/disk/backups
      rehi backup verify /mnt/disk/backups
      rehi backup prune /mnt/disk/backups --keep 30
    """
