"""``rehi plugins``: every part that is installed, and the package that brings it."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, show_json, show_table


@click.command("plugins")
@click.option("--others", is_flag=True, help="Leave out what rehi itself brings.")
@json_option
def command(others: bool, as_json: bool) -> None:
    """List the parts of every kind: engines, formats, facets, languages and more, and the package that brings each.

    A part that can't be used is named with the reason; all else goes on without it.

    \b
    Examples:
      rehi plugins
      rehi plugins --others
      rehi plugins --json
    """
    from rehi import __version__
    from rehi.builtin import outsiders, plugins

    parts = outsiders(check=True) if others else plugins()
    if as_json:
        show_json(parts)
        return
    rows = [
        (part.group, part.name, part.place, part.package, part.version or __version__, part.error or "well")
        for part in parts
    ]
    show_table(
        ("kind", "name", "where", "package", "version", "state"),
        rows,
        empty="No other package brings a part. CONTRIBUTING.md says how to write one.",
    )
