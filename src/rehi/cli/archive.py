"""``rehi archive``: what is kept, whether it is whole, and what goes."""

from __future__ import annotations

from importlib import import_module

import click

# name: (module, what it does). Kept here so that the help imports nothing else.
SUBCOMMANDS = {
    "stats": ("rehi.cli.archive_stats", "Show what is kept: versions, bytes and savings, by type and host."),
    "verify": ("rehi.cli.archive_verify", "Check that all that was kept is there, and is what it was."),
    "reindex": ("rehi.cli.archive_reindex", "Make the catalogue's index anew from the files alone."),
    "prune": ("rehi.cli.archive_prune", "Drop the bytes of versions that the sources' rules don't keep."),
    "compact": ("rehi.cli.archive_compact", "Free the room of what was dropped."),
}


class ArchiveGroup(click.Group):
    """The subcommands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, imported now."""
        if cmd_name not in SUBCOMMANDS:
            return None
        command = import_module(SUBCOMMANDS[cmd_name][0]).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{SUBCOMMANDS[cmd_name][0]} has no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list in the help, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in SUBCOMMANDS.items()])


@click.group("archive", cls=ArchiveGroup)
def command() -> None:
    """Look after the archive: what it holds, whether it is whole, and what may go.

    \b
    Examples:
      rehi archive stats
      rehi archive verify --sample 1000
      rehi archive prune --dry-run
    """
