"""A group of commands from a table: none is imported before it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

CommandTable = Mapping[str, tuple[str, str]]  # name: (module, what it does), so that the help imports nothing else


class LazyGroup(click.Group):
    """The commands of a table; a word that is none of them is given to the one that is the ``default``, if there is one."""

    def __init__(self, *args: Any, table: CommandTable, default: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the default command before words that begin with no command's."""
        if self.default and args and args[0] not in self.table and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, imported now."""
        if cmd_name not in self.table:
            return None
        command = import_module(self.table[cmd_name][0]).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.table[cmd_name][0]} has no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands into the help, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.table.items()])
