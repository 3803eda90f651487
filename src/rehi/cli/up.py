"""``rehi up``: harvest continuously and serve."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from functools import partial
from typing import Any

import click

from rehi.app import House
from rehi.cli.foreground import count_waiting, stop_on_signals
from rehi.cli.output import json_option, open_house, show_json
from rehi.cli.practice import practice_web
from rehi.cli.progress import harvest_bar
from rehi.settings import load_settings


@click.command("up")
@click.option("--add", "sources", multiple=True, metavar="FILE|URL", help="Take this in first; may be given again.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port of the page (default: serve.port).")
@click.option("--world", "with_world", is_flag=True, help="Start the practice web too, and harvest it.")
@json_option
@click.pass_context
def command(ctx: click.Context, sources: tuple[str, ...], port: int | None, with_world: bool, as_json: bool) -> None:
    """Harvest continuously, and serve the page, REST and SPARQL; Ctrl-C stops cleanly.

    \b
    Examples:
      rehi up
      rehi up --add crawl.log
      rehi up --world
    """
    stop = stop_on_signals()
    with ExitStack() as stack:
        given: dict[str, Any] = {}
        if with_world:
            config, options = ctx.obj
            log = load_settings(config, **options).data / "practice-web.log"
            web = stack.enter_context(practice_web(log))
            sources, given = (*sources, str(web.log)), {"fetch": web.fetch}
        house = stack.enter_context(open_house(ctx, **given))
        _run(house, stack, sources, port, stop, as_json=as_json)


def _run(
    house: House, stack: ExitStack, sources: tuple[str, ...], port: int | None, stop: threading.Event, *, as_json: bool
) -> None:
    from rehi.pipeline import Progress
    from rehi.serve import running
    from rehi.service import Service

    service = Service(house, list(sources))
    service.start()
    stack.callback(service.stop)
    address = stack.enter_context(running(house, service, port=port))
    if as_json:
        show_json({"address": address})
        sys.stdout.flush()
    else:
        click.echo(f"rehi is up: {address}  (Ctrl-C stops it)", err=True)

    with harvest_bar(quiet=as_json, waiting=partial(count_waiting, house)) as show:
        while not stop.wait(0.25) and service.status.running:
            status = service.status
            progress = Progress()
            progress.counts.update(status.counts)
            progress.outages = status.outages
            show(progress)
    if service.error is not None:
        raise service.error
