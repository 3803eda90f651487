"""The pages of the docs that are made from the code, so that they can't drift: commands and settings."""

from __future__ import annotations

from pathlib import Path

import click

from rehi.cli import COMMANDS, cli
from rehi.settings import HostSettings, Settings, describe_settings

DOCS = Path(__file__).parent


def commands() -> str:
    """Every command with its help."""
    context = cli.make_context("rehi", ["stats"], terminal_width=100)
    parts = ["# Commands", "", "Made from the code by `make docs`. `rehi COMMAND --help` shows the same.", ""]
    parts += ["```", cli.get_help(context), "```", ""]
    for name in COMMANDS:
        parts += _command(cli, name, context)
    return "\n".join(parts)


def _command(group: click.Group, name: str, parent: click.Context) -> list[str]:
    """A command with its help, and those below it."""
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100)
    parts = [f"## {context.command_path}", "", "```", command.get_help(context), "```", ""]
    below = command.list_commands(context) if isinstance(command, click.Group) else []
    return parts + [line for one in below for line in _command(command, one, context)]  # type: ignore[arg-type]


def settings() -> str:
    """Every setting with its default and its meaning."""
    lines = [
        "# Settings",
        "",
        "Made from the code by `make docs`. `rehi settings` shows the values in force.",
        "",
        "They come from `rehi.toml` in the current folder (or the file named with `--config` or `REHI_CONFIG`) and from the",
        "environment, which wins: `fetch.delay` is `delay` in the table `[fetch]`, and `REHI_FETCH__DELAY`.",
        "",
        "| setting | default | meaning |",
        "|---|---|---|",
    ]
    for row in describe_settings(Settings.model_construct()):
        default = f"`{row.default}`" if row.default not in ("", []) else ""
        lines.append(f"| `{row.name}` | {default} | {row.help} |")
    lines += ["", "Each table `[[fetch.hosts]]` may have these; the first that matches a host holds ([hosts.md](hosts.md)):", ""]
    lines += ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in HostSettings.model_fields.items():
        default = f"`{field.default}`" if field.default and not field.is_required() else ""
        lines.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(lines) + "\n"


PAGES = {"commands.md": commands, "settings.md": settings}


if __name__ == "__main__":
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), encoding="utf-8")
