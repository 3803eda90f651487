"""``rehi update``: visit everything now, and the table of past updates."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from rehi.cli.foreground import explain_rests, opened_harvest, run_harvest, stop_on_signals
from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.cli.progress import update_bar
from rehi.errors import DataFolderBusy, EngineAway, UserError
from rehi.model.update import COUNTS, Update, UpdateKind, UpdateState

if TYPE_CHECKING:
    from rehi.app import House

LOOK_SECONDS = 0.5
STILL_SECONDS = 5.0  # without any news, after which we look whether anybody is at work at all
LOOKED_AT = 200  # the newest updates, among which the one that we follow must be


@click.command("update")
@click.option("--source", "source_id", type=click.IntRange(1, 2**63 - 1), metavar="N", help="Only pages of a source.")
@click.option("--host", default="", metavar="NAME", help="Only pages of a host.")
@click.option("--url", default="", help="Only this page.")
@click.option("--dry-run", is_flag=True, help="Only say what would be visited, and how long it takes at the least.")
@click.option("--list", "listed", is_flag=True, help="Show past updates, the newest first.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="No more than these.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, dry_run: bool, listed: bool, limit: int, as_json: bool, **part: Any) -> int:
    """Visit everything now, or a part of it, whatever the schedules say; it leaves a row in the table of updates.

    While another rehi works in the data folder, that one does the work and this one looks on; Ctrl-C then only stops
    looking. Otherwise Ctrl-C stops the update cleanly, and what it had not reached is visited by the next harvest.

    \b
    Examples:
      rehi update
      rehi update --dry-run
      rehi update --source 3
      rehi update --host www.example.ee
      rehi update --list
    """
    from rehi.operations.updates import check_part

    if sum(map(bool, part.values())) > 1:
        raise click.UsageError("give one of --source, --host and --url")
    with open_house(ctx) as house:
        if listed:
            _list(house, limit, as_json=as_json)
            return 0
        if dry_run:
            _estimate(house, part, as_json=as_json)
            return 0
        with suppress(EngineAway):  # what is away is waited for, and looked at then
            check_part(house, **part)
        stop = stop_on_signals()
        try:
            row = _work(house, part, stop, quiet=as_json)
            code = 130 if stop.is_set() else 0
        except DataFolderBusy:
            row, code = _look_on(house, part, stop, quiet=as_json), 0
        rests = explain_rests(house)
    if as_json:
        show_json(row)
    else:
        _show([row])
        if row.counts.get("visited", 0) < row.due and row.state is UpdateState.DONE and rests:
            click.echo(rests)
        if row.state is UpdateState.RUNNING:
            click.echo("It goes on. See how far it is with: rehi update --list")
    return code


def _work(house: House, part: dict[str, Any], stop: Event, *, quiet: bool) -> Update:
    from rehi.operations.updates import check_part, make_due

    with opened_harvest(house, stop=stop, quiet=quiet) as harvest:
        check_part(house, **part)
        make_due(house, **part)
        run_harvest(house, harvest, kind=UpdateKind.ORDERED, stop=stop, quiet=quiet)
    return next(row for row in _newest(house) if row.kind is UpdateKind.ORDERED)


def _newest(house: House) -> Sequence[Update]:
    from rehi.operations.updates import list_updates

    return list_updates(house, limit=LOOKED_AT).updates


def _look_on(house: House, part: dict[str, Any], stop: Event, *, quiet: bool) -> Update:
    """Have the rehi that works in this folder make the update, and show its progress."""
    from time import monotonic

    from rehi.operations.updates import order_update

    row = order_update(house, **part)
    news_at = monotonic()
    with update_bar(quiet=quiet) as show:
        while row.state is UpdateState.RUNNING and not stop.wait(LOOK_SECONDS):
            fresh = next((other for other in _newest(house) if other.id == row.id), row)
            if fresh != row:
                row, news_at = fresh, monotonic()
            elif monotonic() - news_at > STILL_SECONDS:
                _check_somebody_works(house, row)
                news_at = monotonic()
            show(row)
    return row


def _check_somebody_works(house: House, row: Update) -> None:
    from rehi.app import lock_folder, utc_now

    try:
        with lock_folder(house.settings.data):
            house.catalogue.change_update(row.id, state=UpdateState.STOPPED, now=utc_now())
    except DataFolderBusy:
        return
    raise UserError("the rehi that worked here has ended; what the update had not reached is still due: rehi harvest")


def _estimate(house: House, part: dict[str, Any], *, as_json: bool) -> None:
    from rehi.operations.estimate import estimate_update

    estimate = estimate_update(house, **part)
    if as_json:
        show_json(estimate)
        return
    pages, hosts = (
        _number(estimate.pages, "page"),
        _number(estimate.hosts, "host") if estimate.hosts is not None else "",
    )
    click.echo(f"{pages}{f' on {hosts}' if hosts else ''} would be visited.")
    if estimate.left_alone:
        click.echo(f"{_number(estimate.left_alone, 'host')} left alone.")
    if estimate.seconds is None:
        click.echo("They are too many to say on how many hosts, and how long it takes.")
    elif estimate.slowest and estimate.seconds >= 1:
        took = timedelta(seconds=round(estimate.seconds))
        click.echo(f"It takes {took} at the least: so long are the pauses between the pages of {estimate.slowest}.")


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _list(house: House, limit: int, *, as_json: bool) -> None:
    from rehi.operations.updates import list_updates

    updates = list_updates(house, limit=limit)
    if as_json:
        show_json({"total": updates.total, "updates": updates.updates})
        return
    _show(list(updates.updates))
    if updates.total > len(updates.updates):
        click.echo(f"{updates.total - len(updates.updates):,} more; raise --limit to see them.")


def _show(rows: list[Update]) -> None:
    from rehi.app import utc_now

    now = utc_now()
    table = [
        (row.started_at, _took(row, now), row.kind, row.state, row.due,
         *(row.counts.get(name, 0) for name in COUNTS), row.workers, _stages(row))
        for row in rows
    ]  # fmt: skip
    columns = ("started (UTC)", "took", "kind", "state", "due", *COUNTS, "workers", "seconds by stage")
    show_table(columns, table, empty="There was no update yet. Begin one with: rehi update")


def _took(row: Update, now: datetime) -> str:
    return str(timedelta(seconds=round(((row.ended_at or now) - row.started_at).total_seconds())))


def _stages(row: Update) -> str:
    ranked = sorted(row.seconds.items(), key=lambda item: -item[1])
    return ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in ranked)
