"""``rehi add``: take a source in."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.cli.progress import bytes_bar
from rehi.errors import DataFolderBusy
from rehi.model.source import SourceState

NEXT = "Next: rehi harvest"
QUEUED = "The rehi that is up is busy with another source, and takes this one in after it."


@click.command("add")
@click.argument("source", metavar="FILE|URL")
@click.option("--again", is_flag=True, help="Take it in once more, with statistics of its own.")
@click.option("--policy", help="When its pages are visited again, as in `rehi source`.")
@click.option("--priority", type=click.Choice(["high", "normal", "low"]), help="How much its pages matter.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, source: str, again: bool, policy: str | None, priority: str | None, as_json: bool
) -> None:
    """Add a Heritrix crawl log (gzipped or not), a list of URLs, or one page.

    The kind is detected. What was interrupted goes on where it stopped; what is done already is not read twice.

    \b
    Examples:
      rehi add crawl.log
      rehi add crawl.log.gz --json
      rehi add https://www.example.ee/urls.txt
      rehi add https://www.example.ee/
      rehi add monthly.txt --policy "fixed 0 1 1 * *" --priority low
    """
    from rehi.desk.adding import enter, read_in
    from rehi.desk.revisiting import check_policy, order_policy

    check_policy(policy)
    with open_house(ctx) as house:
        entered = enter(house, source, again=again)
        if policy is not None or priority is not None:  # before the first of its pages is visited
            order_policy(house, entered.id, policy=policy, priority=priority)
        try:
            with bytes_bar(f"reading {entered.name}", total=entered.size, quiet=as_json) as advance:
                done = read_in(house, entered.id, on_progress=advance)
        except DataFolderBusy:  # the rehi that is up takes sources in one after another
            house.catalogue.mark_source(entered.id, SourceState.READING)
            done = house.catalogue.source(entered.id)
        if as_json:
            show_json(done)
            return
        rows = [(what, int(n)) for what, n in sorted(done.counts.items()) if not what.startswith("seconds")]
        show_table(("what", "lines"), rows, empty="")
        queued = done.state is SourceState.READING
        click.echo(f"{done.name}: {done.kind}, {done.state}. {QUEUED if queued else NEXT}")
