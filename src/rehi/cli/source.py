"""``rehi source``: the sources, when their pages are visited again, and which versions are kept."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json, show_table

COUNTS = ("accepted", "rejected", "malformed", "visited")


@click.command("source")
@click.argument("number", metavar="[N]", required=False, type=click.IntRange(1, 2**63 - 1))
@click.option(
    "--policy",
    help='"adaptive", "fixed 0 1 1 * *" (a cron expression), "odarchive" or "latency 15m"; empty for the setting.',
)
@click.option("--priority", type=click.Choice(["high", "normal", "low"]), help="How much its pages matter.")
@click.option(
    "--keep",
    metavar="RULE",
    help='"all", "last 5", "one per month" (day, week, year), "last 5 and one per month", or "references".',
)
@click.option(
    "--follow",
    metavar="RULE",
    help='Which links become pages of it: "same host", "same folder", "host example.ee", "same host, depth 2"; "none".',
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    number: int | None,
    policy: str | None,
    priority: str | None,
    keep: str | None,
    follow: str | None,
    as_json: bool,
) -> None:
    """Show the sources with their policies, priorities and counts; set those of source N.

    A policy says when pages are visited again; it holds from each page's next visit on. The priority says whose turn
    comes more often when there are more visits to make than there is time for. The rule of --keep says which versions
    are worth their room: nothing goes before `rehi archive prune`. The rule of --follow says which links of its pages
    become pages of the source, as soon as they are read; without one, none do.

    \b
    Examples:
      rehi source
      rehi source 3 --policy "fixed 0 1 1 * *"
      rehi source 3 --policy "latency 15m" --priority high
      rehi source 3 --policy ""
      rehi source 3 --keep "last 5 and one per month"
      rehi source 3 --follow "same host, depth 2, not path /search*"
    """
    from rehi.operations.retention import check_keep, keep_of, order_keep
    from rehi.operations.revisit import check_policy, order_policy, priority_of
    from rehi.operations.source_rows import list_rows, state_in_words
    from rehi.operations.sources import (
        entries_in_words,
        kind_in_words,
        order_follow,
    )
    from rehi.sources.links import parse_follow

    if number is None and any(given is not None for given in (policy, priority, keep, follow)):
        raise click.UsageError("say which source: rehi source N --policy …; `rehi source` lists them")
    check_policy(policy, priority)  # all of it, before any of it is set
    check_keep(keep or "")
    parse_follow(follow or "")
    with open_house(ctx) as house:
        shown = house.catalogue.sources() if number is None else [house.catalogue.source(number)]
        if number is not None and (policy is not None or priority is not None):
            shown = [order_policy(house, number, policy=policy, priority=priority)]
        if number is not None and keep is not None:
            shown = [order_keep(house, number, keep)]
        if number is not None and follow is not None:
            shown = [order_follow(house, number, follow)]
        if as_json:
            listed = list_rows(house, shown)
            show_json(listed if number is None else listed[0])
            return
        default = f"{house.settings.revisit.policy} (the setting)"
        rows = [
            (str(row.id), row.name, kind_in_words(row), state_in_words(house, row), row.policy or default, priority_of(row), keep_of(row),
             row.follow or "none", entries_in_words(row),
             *(int(row.counts.get(name, 0)) for name in COUNTS))
            for row in shown
        ]  # fmt: skip
        columns = ("no.", "name", "kind", "state", "policy", "priority", "keeps", "follows", "read", *COUNTS)
        show_table(columns, rows, empty="There is no source yet. Add one with: rehi add FILE")
