"""``rehi world``: the practice web."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import click

from rehi.cli.output import json_option, show_json


@click.command("world")
@click.option("--port", default=8600, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option(
    "--speed", default=0.0, show_default=True, help="How fast its clock runs; 0 stops it, 3600 is an hour a second."
)
@click.option("--seed", default=1, show_default=True, help="Another seed is another web.")
@click.option(
    "--with-parent", is_flag=True, help="End when standard input ends, as it does with the process that started it."
)
@click.option("--log", type=click.Path(path_type=Path), help="Write its crawl log here.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, port: int, speed: float, seed: int, log: Path | None, with_parent: bool, as_json: bool
) -> None:
    """Serve a small web of ministries, towns and newspapers on loopback, to try rehi on; Ctrl-C ends it.

    \b
    Examples:
      rehi world --log world.log
      rehi world --port 0 --speed 3600 --json
    """
    from rehi.testing.world import World, WorldServer

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    world = World(seed=seed)
    if speed > 0:
        world.clock.run(speed)
    if log is not None:
        log.write_bytes(b"".join(world.crawl_log()))
    with WorldServer(world, port=port) as server:
        facts = {"port": server.port, "hosts": len(world.host_names), "resolve": server.resolve_rules, "log": log}
        if as_json:
            show_json(facts)
        else:
            click.echo(f"{facts['hosts']} hosts on 127.0.0.1:{server.port}; to harvest them:")
            click.echo(
                f"  REHI_FETCH__RESOLVE='[\"{server.resolve_rules[0]}\"]' REHI_FETCH__ALLOW_PRIVATE='[\"127.0.0.0/8\"]'"
            )
        sys.stdout.flush()
        if with_parent:
            threading.Thread(target=_wait_for_the_end, args=(stop,), daemon=True).start()
        stop.wait()


def _wait_for_the_end(stop: threading.Event) -> None:
    sys.stdin.read()
    stop.set()
