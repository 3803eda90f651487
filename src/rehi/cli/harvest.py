"""``rehi harvest``: visit what is due, once."""

from __future__ import annotations

import signal
import threading
from types import FrameType

import click

from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.cli.progress import harvest_bar


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
    from rehi.app import utc_now

    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    with open_house(ctx) as house, house.working() as harvest:

        def waiting() -> int:
            return house.catalogue.totals(now=utc_now()).waiting

        if graph_anew:
            house.catalogue.describe_all()
        with harvest_bar(quiet=as_json, waiting=waiting) as show:
            harvest.run(until_idle=True, stopped=stop.is_set, on_turn=show)
    progress = harvest.progress
    if as_json:
        show_json({"counts": dict(progress.counts), "seconds": dict(progress.seconds), "stopped": stop.is_set()})
    else:
        rows = [(what, n) for what, n in sorted(progress.counts.items()) if n]
        show_table(("what", "number"), rows, empty="Nothing was due. Add a source with: rehi add FILE")
    return 130 if stop.is_set() else 0
