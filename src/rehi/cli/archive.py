"""``rehi archive``: what is kept, whether it is whole, and what goes."""

from __future__ import annotations

import click

from rehi.cli.lazy_group import LazyGroup

# name: (module, what it does). Kept here so that the help imports nothing else.
SUBCOMMANDS = {
    "stats": ("rehi.cli.archive_stats", "Show what is kept: versions, bytes and savings, by type and host."),
    "verify": ("rehi.cli.archive_verify", "Check that all that was kept is there, and is what it was."),
    "reindex": ("rehi.cli.archive_reindex", "Make the catalogue's index anew from the files alone."),
    "prune": ("rehi.cli.archive_prune", "Drop the bytes of versions that the sources' rules don't keep."),
    "compact": ("rehi.cli.archive_compact", "Free the room of what was dropped."),
}


@click.group("archive", cls=LazyGroup, table=SUBCOMMANDS)
def command() -> None:
    """Look after the archive: what it holds, whether it is whole, and what may go.

    \b
    Examples:
      rehi archive stats
      rehi archive verify --sample 1000
      rehi archive prune --dry-run
    """
