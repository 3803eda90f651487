"""``rehi stats``: what there is, in numbers."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json, show_table


@click.command("stats")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show what there is, in numbers, and each source with its own statistics.

    \b
    Examples:
      rehi stats
      rehi stats --json
    """
    from rehi.builtin import load_all
    from rehi.operations.sources import kind_in_words, list_sources
    from rehi.operations.status import count_outdated, get_totals

    with open_house(ctx) as house:
        totals, sources = get_totals(house), list_sources(house)
        outdated = count_outdated(house, totals)
        if as_json:
            show_json({"totals": totals, "outdated": outdated, "sources": sources})
            return
        kinds = load_all("entity_kind")
        rows = [(name.replace("_", " "), getattr(totals, name)) for name in _PLAIN]
        rows += [("documents read by an older recipe", outdated)]
        rows += [(kinds[kind].plural if kind in kinds else kind, n) for kind, n in totals.entities.items()]
        show_table(("what", "number"), rows, empty="")
        for title, counts in (("state", totals.outcomes), ("type", totals.media_types), ("language", totals.languages)):
            if counts:
                ranked = sorted(counts.items(), key=lambda item: -item[1])
                show_table((title, "documents"), ranked, empty="")
        for source in sources:
            click.echo(f"{source.name} ({kind_in_words(source)}, {source.state})")
            numbers = [
                (name, f"{n:,.1f}" if name.startswith("seconds") else f"{n:,.0f}")
                for name, n in sorted(source.counts.items())
            ]
            show_table(("what", "number"), numbers, empty="")


_PLAIN = (
    "sources", "hosts", "resources", "waiting", "visits", "versions", "documents", "mentions", "bytes_seen", "problems",
    "to_read", "to_describe",
)  # fmt: skip
