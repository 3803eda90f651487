"""``rehi settings``: every setting, its value and its meaning."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, show_json, show_table


@click.command("settings")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show every setting, its value now and what it means.

    Settings come from rehi.toml, and from the environment as REHI_DATA or REHI_FETCH__DELAY, which wins.

    \b
    Examples:
      rehi settings
      REHI_FETCH__DELAY=5 rehi settings --json
    """
    from rehi.settings import describe_settings, load_settings

    config, given = ctx.obj
    rows = describe_settings(load_settings(config, **given))
    if as_json:
        show_json(rows)
    else:
        show_table(("setting", "value", "meaning"), [(r.name, str(r.value), r.help) for r in rows], empty="")
