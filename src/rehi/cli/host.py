"""``rehi host``: how hosts fare, and what is ordered for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rehi.cli.output import json_option, open_house, printable, show_json, show_table
from rehi.model.host import HostRow, HostState

if TYPE_CHECKING:
    from rehi.app import House
    from rehi.operations.hosts import HostReport

NEIGHBOURS_SHOWN = 10


@click.command("host")
@click.argument("name", metavar="[NAME|ORIGIN|URL]", required=False)
@click.option("--like", default="", help="In the list: only hosts with this in their names.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="No more than these.")
@click.option("--leave-alone/--visit-again", "left_alone", default=None, help="Whether it is visited at all.")
@click.option("--why", default="", help="The reason to leave it alone, for whoever asks later.")
@click.option("--delay", type=float, help="Seconds between two requests; 0 takes the order back.")
@click.option("--connections", type=int, help="Requests at the same time; 0 takes the order back.")
@click.option("--hours", help='When it may be visited, as in "20:00-06:00"; an empty string takes the order back.')
@json_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, like: str, limit: int, as_json: bool, **orders: Any) -> None:
    """Show hosts, those in trouble first; or all that is known of one, and order how it is treated.

    An order holds at once, also for a rehi that is up: whoever visits the host now obeys it within a second.

    \b
    Examples:
      rehi host
      rehi host --like example.ee
      rehi host www.example.ee
      rehi host www.example.ee --leave-alone --why "they asked us to"
      rehi host www.example.ee --visit-again
      rehi host https://www.example.ee --delay 10 --hours "20:00-06:00"
    """
    wanted = {option: value for option, value in orders.items() if option != "why" and value is not None}
    if orders["why"] and orders["left_alone"] is None:
        raise click.UsageError("--why goes with --leave-alone or --visit-again")
    if name is None and wanted:
        raise click.UsageError("say for which host: rehi host NAME --delay …; `rehi host` lists them")
    if name is not None and like:
        raise click.UsageError("--like is for the list; give either it or a host")
    with open_house(ctx) as house:
        if name is None:
            _list(house, like, limit, as_json=as_json)
        else:
            _one(house, name, wanted, orders["why"], as_json=as_json)


def _list(house: House, like: str, limit: int, *, as_json: bool) -> None:
    from rehi.operations.hosts import explain_wait, list_hosts

    hosts = list_hosts(house, like=like, limit=limit)
    if as_json:
        show_json(hosts)
        return
    table = [
        (row.origin, row.state, explain_wait(row), _next(row), row.resources, row.delay, row.strain, row.failures)
        for row in hosts.hosts
    ]
    columns = ("origin", "state", "why", "next visit (UTC)", "pages", "pause", "strain", "failures")
    show_table(columns, table, empty=f"No host has {like} in its name." if like else "There are no hosts yet.")
    if hosts.total > len(table):
        click.echo(f"{hosts.total - len(table):,} more; raise --limit or narrow the list with --like to see them.")


def _next(row: HostRow) -> str:
    waits = row.state in (HostState.WAITING, HostState.IDLE) and row.ready_at is not None
    return f"{row.ready_at:%Y-%m-%d %H:%M:%S}" if waits else ""


def _one(house: House, name: str, wanted: dict[str, Any], why: str, *, as_json: bool) -> None:
    from rehi.operations.hosts import order_host, report_hosts

    reports = report_hosts(house, name)
    if wanted:
        if wanted.get("hours") == "0":
            wanted["hours"] = ""
        for report in reports:
            order_host(house, report.facts.row.host_id, report.facts.orders, why=why, **wanted)
        reports = report_hosts(house, name)
    if as_json:
        show_json(reports)
        return
    for report in reports:
        _show(report)


def _show(report: HostReport) -> None:
    facts = report.facts
    click.echo(f"{printable(facts.row.origin)}: {printable(report.state)}\n")
    show_table(("what", "how it is"), _facts(report), empty="")
    if report.rules:
        click.echo("The rules of its robots.txt that are meant for us:")
        click.echo("".join(f"  {line}\n" for line in printable(report.rules).splitlines()))
    visits = [(row.at, row.outcome, row.status or None, row.seconds, row.size, row.url) for row in facts.visits]
    show_table(("visited (UTC)", "outcome", "status", "seconds", "bytes", "page"), visits, empty="Not visited yet.")
    for line in report.advice:
        click.echo(f"Note: {printable(line)}")
    click.echo()


def _facts(report: HostReport) -> list[tuple[str, str]]:
    facts, row = report.facts, report.facts.row
    return [
        ("pages", f"{row.resources:,}, of which {facts.due:,} are due"),
        ("pause", _pause(report)),
        ("connections", f"{report.connections}{' (by order)' if facts.orders.connections else ''}"),
        ("hours", f"{report.hours or 'always'}{' (by order)' if facts.orders.hours else ''}"),
        ("failures in a row", str(row.failures)),
        ("robots.txt", report.robots),
        ("TLS", "verified" if report.verifies_tls else "NOT verified, by an exception in the settings"),
        ("proxy", "by the settings" if report.uses_proxy else "none"),
        ("extra headers", ", ".join(report.extra_headers) or "none"),
        ("address", row.address or "not met yet"),
        ("also there", _neighbours(facts.neighbours)),
    ]


def _pause(report: HostReport) -> str:
    parts = [f"{report.delay:g} s between two requests"]
    if report.facts.orders.delay is not None:
        parts.append(f"{report.facts.orders.delay:g} s by order")
    if report.asked_delay is not None:
        parts.append(f"its robots.txt asks for {report.asked_delay:g} s")
    if report.facts.row.strain > 1:
        parts.append(f"{report.facts.row.strain:.1f} times as long as usual since it was overloaded")
    return "; ".join(parts)


def _neighbours(origins: tuple[str, ...]) -> str:
    more = len(origins) - NEIGHBOURS_SHOWN
    return ", ".join(origins[:NEIGHBOURS_SHOWN]) + (f" and {more:,} more" if more > 0 else "") or "no other host"
