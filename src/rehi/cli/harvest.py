"""``rehi harvest``: visit what is due, once."""

from __future__ import annotations

import click

from rehi.cli.foreground import explain_rests, opened_harvest, run_harvest, stop_on_signals
from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.model.update import UpdateKind


@click.command("harvest")
@click.option(
    "--graph-anew", is_flag=True, help="Write the whole graph again from the catalogue, as after it was lost."
)
@json_option
@click.pass_context
def command(ctx: click.Context, graph_anew: bool, as_json: bool) -> int:
    """Visit what is due now, keep it, read it and describe it; ends when nothing is left.

    Ctrl-C stops cleanly; the next harvest goes on where this one stopped.

    \b
    Examples:
      rehi harvest
      rehi harvest --json
      rehi harvest --graph-anew
    """
    from rehi.operations.workers import describe_anew

    stop = stop_on_signals()
    with open_house(ctx) as house, opened_harvest(house, stop=stop, quiet=as_json) as harvest:
        if graph_anew:
            describe_anew(house)
        run_harvest(house, harvest, kind=UpdateKind.HARVEST, stop=stop, quiet=as_json)
        rests = explain_rests(house)
    progress = harvest.progress
    if as_json:
        show_json(
            {
                "counts": dict(progress.counts),
                "seconds": dict(progress.seconds),
                "stopped": stop.is_set(),
                "rests": rests,
            }
        )
    else:
        rows = [(name, n) for name, n in sorted(progress.counts.items()) if n]
        show_table(("what", "number"), rows, empty="Nothing was due. Add a source with: rehi add FILE")
        if rests and not progress.counts["visited"]:
            click.echo(rests)
    return 130 if stop.is_set() else 0
