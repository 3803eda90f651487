"""``rehi archive reindex``: the catalogue's index made anew from the files alone."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json
from rehi.cli.progress import bytes_bar


@click.command("reindex")
@click.option("--anew", is_flag=True, help="Set the embedded catalogue aside first, and begin with an empty one.")
@json_option
@click.pass_context
def command(ctx: click.Context, anew: bool, as_json: bool) -> None:
    """Go through all files of the archive and enter what the catalogue does not know.

    What it knows already stays as it is, so it may be run at any time while nobody harvests. Sources, orders for hosts and
    schedules are not in the files. What is found is read and described by the next harvest.

    \b
    Examples:
      rehi archive reindex
      rehi archive reindex --anew
    """
    from rehi.operations.reindex import reindex, set_catalogue_aside
    from rehi.operations.verification import archive_size

    if anew:
        with open_house(ctx) as house:
            aside = set_catalogue_aside(house)
        click.echo(f"The catalogue from before is {aside} now.", err=True)
    with open_house(ctx) as house, bytes_bar("reading", total=archive_size(house), quiet=as_json) as advance:
        done = reindex(house, on_progress=advance)
    if as_json:
        show_json(done)
        return
    click.echo(
        f"{done.files:,} files, {done.records:,} records, {done.visits:,} visits; {done.versions:,} versions were not known."
    )
    if done.damaged:
        click.echo(f"{done.damaged:,} parts can't be read: rehi problems")
    click.echo("Next: rehi harvest")
