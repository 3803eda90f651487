"""``rehi world``: the practice web."""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rehi.cli.output import json_option, show_json

if TYPE_CHECKING:
    from rehi.testing.world import WorldRule


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

    It says how to harvest it, and what holds of its sites: what changes how often, robots.txt, redirects, wrong types, errors
    and traps, each with what a visit of it may come to.

    \b
    Examples:
      rehi world --log world.log
      rehi world --port 0 --speed 3600 --json
    """
    from rehi.testing.world import World, WorldServer, list_rules

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    world = World(seed=seed)
    if speed > 0:
        world.clock.run(speed)
    if log is not None:
        log.write_bytes(b"".join(world.crawl_log()))
    with WorldServer(world, port=port) as server:
        if as_json:
            facts = {"port": server.port, "hosts": len(world.host_names), "resolve": server.resolve_rules, "log": log}
            show_json(facts | {"rules": list_rules(world)})
        else:
            resolve = json.dumps(server.resolve_rules)
            click.echo(f"{len(world.host_names)} hosts on 127.0.0.1:{server.port}; to harvest them:")
            click.echo(f"  REHI_FETCH__RESOLVE='{resolve}' REHI_FETCH__ALLOW_PRIVATE='[\"127.0.0.0/8\"]'")
            click.echo("\nWhat holds of them, and in brackets what a visit may come to:")
            for rule in list_rules(world):
                click.echo(_line(rule))
        sys.stdout.flush()
        if with_parent:
            threading.Thread(target=_wait_for_the_end, args=(stop,), daemon=True).start()
        stop.wait()


def _line(rule: WorldRule) -> str:
    expected = f" [{' or '.join(rule.expect)}]" if rule.expect else ""
    return f"  {rule.about:<12}{rule.where}: {rule.rule}{expected}"


def _wait_for_the_end(stop: threading.Event) -> None:
    sys.stdin.read()
    stop.set()
