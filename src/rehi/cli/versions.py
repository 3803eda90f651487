"""``rehi versions``: what is kept of a URL."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json, show_table


@click.command("versions")
@click.argument("url")
@click.option(
    "--limit", default=1000, show_default=True, type=click.IntRange(1), help="No more than these, the newest."
)
@json_option
@click.pass_context
def command(ctx: click.Context, url: str, limit: int, as_json: bool) -> None:
    """List the versions of URL in the order of time: number, size, type, status, how it is stored, and digest.

    Numbers are the order in which versions came here; a crawl that was made elsewhere may bring old ones late.

    \b
    Examples:
      rehi versions https://www.example.ee/
      rehi versions https://www.example.ee/andmed.csv --json
    """
    from rehi.operations.versions import list_versions

    with open_house(ctx) as house:
        newest = list_versions(house, url=url, limit=limit)
        rows = newest.versions[::-1]
        if as_json:
            show_json({"url": url, "total": newest.total, "versions": rows})
            return
        table = [
            (row.number, row.taken_at, row.size, row.media_type, row.status, row.stored.value, row.digest[:19] + "…")
            for row in rows
        ]
        columns = ("number", "taken (UTC)", "bytes", "type declared", "status", "stored", "digest")
        show_table(columns, table, empty="There are none.")
        if newest.total > len(rows):
            click.echo(f"{newest.total - len(rows):,} older ones; raise --limit to see them.")
