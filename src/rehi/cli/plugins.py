"""``rehi plugins``: every part that is installed, and the package that brings it."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, show_json, show_table


@click.command("plugins")
@click.option("--all", "with_built_in", is_flag=True, help="Show the built-in parts too.")
@json_option
def command(with_built_in: bool, as_json: bool) -> None:
    """List the parts that other packages bring: sources, formats, languages, facets, engines and more.

    \b
    Examples:
      rehi plugins
      rehi plugins --all
      rehi plugins --json
    """
    from rehi.builtin import plugins

    parts = [part for part in plugins() if with_built_in or part.package != "rehi"]
    if as_json:
        show_json(parts)
        return
    rows = [(part.group, part.name, part.place, f"{part.package} {part.version}".strip()) for part in parts]
    show_table(
        ("kind", "name", "where", "package"),
        rows,
        empty="No other package brings a part. CONTRIBUTING.md says how to write one.",
    )
