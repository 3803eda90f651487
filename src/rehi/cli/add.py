"""``rehi add``: take sources in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rehi.cli.failure import explain
from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.cli.progress import bytes_bar
from rehi.errors import DataFolderBusy, SourceError
from rehi.model.source import Source, SourceState

if TYPE_CHECKING:
    from rehi.app import House

NEXT = "Next: rehi harvest"
QUEUED = "The rehi that is up is busy with another source, and takes this one in after it."
READ_BEFORE = "was read before, and nothing was read now. To read it once more: rehi add --again"
CHANGED = "has changed since it was read, and is not read again by itself; with --again it is, as a source of its own."
VISITED = "What lies there is found out when it has been visited. Next: rehi harvest"


@click.command("add")
@click.argument("sources", metavar="FILE|FOLDER|URL...", nargs=-1, required=True)
@click.option(
    "--kind", default="", help="What it is, whatever it looks like: `url-list`, `crawl-log` …; else that is recognised."
)
@click.option("--again", is_flag=True, help="Take it in once more, with statistics of its own.")
@click.option("--in-place", is_flag=True, help="Leave a WARC file where it is, and keep only where its records are.")
@click.option("--policy", help="When its pages are visited again, as in `rehi source`.")
@click.option("--priority", type=click.Choice(["high", "normal", "low"]), help="How much its pages matter.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    kind: str,
    again: bool,
    in_place: bool,
    policy: str | None,
    priority: str | None,
    as_json: bool,
) -> None:
    """Add a Heritrix crawl log (packed or not), a list of URLs, one page, or a crawl made elsewhere (WARC or ARC).

    The kind is detected. What was interrupted goes on where it stopped; what is done already is not read twice.
    What lies at a URL is visited by the next `rehi harvest`, or by the rehi that is up, as politely as any page; then
    it is kept as a page, unless its declared type (text/uri-list, a WARC file) or --kind says that it is a source.
    A folder stands for all WARC and ARC files in it. Their records become versions with their own times; their pages
    are visited again when you ask for it (`rehi update`).

    \b
    Examples:
      rehi add crawl.log
      rehi add crawl.log.gz --json
      rehi add https://www.example.ee/urls.txt --kind url-list
      rehi add https://www.example.ee/
      rehi add monthly.txt --policy "fixed 0 1 1 * *" --priority low
      rehi add crawl.warc.gz old.arc.gz
      rehi add crawls/ --in-place
    """
    from rehi.operations.revisit import check_policy
    from rehi.operations.source_rows import list_rows

    check_policy(policy)
    with open_house(ctx) as house:
        done: list[Source] = []
        given = [one for source in sources for one in _expand(source)]
        for one in given:
            try:
                if isinstance(one, SourceError):
                    raise one
                entered = _enter(house, one, policy, priority, kind=kind, again=again, in_place=in_place)
                done.append(_read(house, entered, quiet=as_json))
            except SourceError as error:
                if len(given) == 1:
                    raise
                explain(error, as_json=as_json)
                continue
            if not as_json:
                _show(house, entered, done[-1])
        if as_json:
            rows = list_rows(house, done)
            show_json(rows[0] if len(given) == 1 else rows)
        if len(done) < len(given):
            click.echo(f"{len(given) - len(done)} of {len(given)} could not be taken in.", err=True)
            ctx.exit(1)


def _expand(given: str) -> Sequence[str | SourceError]:
    """Return what is meant by a name, or why nothing is."""
    from rehi.operations.sources import expand

    try:
        return expand(given)
    except SourceError as error:
        return [error]


def _enter(house: House, name: str, policy: str | None, priority: str | None, **how: Any) -> Source:
    from rehi.operations.revisit import order_policy
    from rehi.operations.sources import enter

    source = enter(house, name, **how)
    if policy is not None or priority is not None:  # before the first of its pages is visited
        return order_policy(house, source.id, policy=policy, priority=priority)
    return source


def _read(house: House, source: Source, *, quiet: bool) -> Source:
    from rehi.app import utc_now
    from rehi.operations.sources import has_changed, read_in

    if not source.is_local:
        return house.catalogue.start_source(source.id, now=utc_now())
    if source.state is SourceState.DONE and has_changed(source):
        click.echo(f"{source.name} {CHANGED}", err=True)
    try:
        with bytes_bar(f"reading {source.name}", total=source.size, quiet=quiet) as advance:
            return read_in(house, source.id, on_progress=lambda share: advance(int(share * source.size)))
    except DataFolderBusy:  # the rehi that is up takes sources in one after another
        return house.catalogue.source(source.id)


def _show(house: House, before: Source, done: Source) -> None:
    from rehi.operations.source_rows import state_in_words
    from rehi.operations.sources import counts_of_reading, kind_in_words, unit_of

    if before.state is SourceState.DONE:
        click.echo(f"{done.name}: {kind_in_words(done)}, {READ_BEFORE}")
        return
    if counts := counts_of_reading(before, done):
        show_table(("what", unit_of(done)), list(counts.items()), empty="")
    next_step = NEXT
    if done.state is SourceState.READING:
        next_step = QUEUED if done.is_local else VISITED
    click.echo(f"{done.name}: {kind_in_words(done)}, {state_in_words(house, done)}. {next_step}")
