"""``rehi add``: take sources in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.cli.progress import bytes_bar
from rehi.errors import DataFolderBusy
from rehi.model.source import Source, SourceState

if TYPE_CHECKING:
    from rehi.app import House

NEXT = "Next: rehi harvest"
QUEUED = "The rehi that is up is busy with another source, and takes this one in after it."


@click.command("add")
@click.argument("sources", metavar="FILE|FOLDER|URL...", nargs=-1, required=True)
@click.option("--again", is_flag=True, help="Take it in once more, with statistics of its own.")
@click.option("--in-place", is_flag=True, help="Leave a WARC file where it is, and keep only where its records are.")
@click.option("--policy", help="When its pages are visited again, as in `rehi source`.")
@click.option("--priority", type=click.Choice(["high", "normal", "low"]), help="How much its pages matter.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    again: bool,
    in_place: bool,
    policy: str | None,
    priority: str | None,
    as_json: bool,
) -> None:
    """Add a Heritrix crawl log (gzipped or not), a list of URLs, one page, or a crawl made elsewhere (WARC or ARC).

    The kind is detected. What was interrupted goes on where it stopped; what is done already is not read twice.
    A folder stands for all WARC and ARC files in it. Their records become versions with their own times; their pages
    are visited again when you ask for it (`rehi update`).

    \b
    Examples:
      rehi add crawl.log
      rehi add crawl.log.gz --json
      rehi add https://www.example.ee/urls.txt
      rehi add https://www.example.ee/
      rehi add monthly.txt --policy "fixed 0 1 1 * *" --priority low
      rehi add crawl.warc.gz old.arc.gz
      rehi add crawls/ --in-place
    """
    from rehi.operations.imports import expand
    from rehi.operations.revisit import check_policy, order_policy
    from rehi.operations.sources import enter

    check_policy(policy)
    with open_house(ctx) as house:
        names = [name for given in sources for name in expand(given)]
        entered = [enter(house, name, again=again, in_place=in_place) for name in names]
        if policy is not None or priority is not None:  # before the first of its pages is visited
            for source in entered:
                order_policy(house, source.id, policy=policy, priority=priority)
        done = []
        for source in entered:
            done.append(_read(house, source, quiet=as_json))
            if not as_json:
                _show(done[-1])
        if as_json:
            show_json(done[0] if len(done) == 1 else done)


def _read(house: House, source: Source, *, quiet: bool) -> Source:
    from rehi.operations.sources import read_in

    try:
        with bytes_bar(f"reading {source.name}", total=source.size, quiet=quiet) as advance:
            return read_in(house, source.id, on_progress=advance)
    except DataFolderBusy:  # the rehi that is up takes sources in one after another
        house.catalogue.mark_source(source.id, SourceState.READING)
        return house.catalogue.source(source.id)


def _show(done: Source) -> None:
    rows = [(what, int(n)) for what, n in sorted(done.counts.items()) if not what.startswith("seconds")]
    show_table(("what", "records" if done.kind.is_crawl else "lines"), rows, empty="")
    queued = done.state is SourceState.READING
    click.echo(f"{done.name}: {done.kind}, {done.state}. {QUEUED if queued else NEXT}")
