"""``rehi workers``: who works on the catalogue, and what each holds."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json, show_table


@click.command("workers")
@click.option(
    "--take-graph",
    is_flag=True,
    help="Let this data folder own the embedded graph from now on, and write all of it again with the next harvest.",
)
@click.option(
    "--force", is_flag=True, help="With --take-graph: also from a worker that lives; it leaves the graph alone then."
)
@json_option
@click.pass_context
def command(ctx: click.Context, take_graph: bool, force: bool, as_json: bool) -> None:
    """List the workers of the catalogue: since when, their last sign of life, and what they hold.

    Several workers share one catalogue, each with a data folder of its own. An embedded graph is owned by one of them.

    \b
    Examples:
      rehi workers
      rehi workers --json
      rehi workers --take-graph
    """
    from rehi.operations.workers import list_workers, take_graph_over

    if force and not take_graph:
        raise click.UsageError("--force goes with --take-graph")
    with open_house(ctx) as house:
        if take_graph:
            take_graph_over(house, force=force)
        workers = list_workers(house)
    if as_json:
        show_json(workers)
        return
    rows = [
        (
            worker.name,
            worker.state,
            f"{worker.started_at:%Y-%m-%d %H:%M:%S}",
            f"{worker.seen_at:%Y-%m-%d %H:%M:%S}",
            worker.holds,
        )
        for worker in workers
    ]
    show_table(
        ("worker", "state", "since", "last seen", "holds"), rows, empty="Nobody has worked on this catalogue yet."
    )
