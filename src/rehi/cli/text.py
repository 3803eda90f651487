"""``rehi text``: what is read from a version."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, printable, show_json


@click.command("text")
@click.argument("url")
@click.option(
    "--at",
    default="",
    help="The version that was valid then: 2026-03-01 (its end), 2026-03-01T12:30Z, 14 digits; in UTC.",
)
@click.option("--version", "number", type=click.IntRange(1), help="The version of this number, as in `rehi versions`.")
@json_option
@click.pass_context
def command(ctx: click.Context, url: str, at: str, number: int | None, as_json: bool) -> None:
    """Show the text of the newest version of URL, or of an older one; with --json all that is understood of it.

    A version that was never read, or not by today's recipe, is read now and kept as a reading.

    \b
    Examples:
      rehi text https://www.example.ee/
      rehi text https://www.example.ee/ --version 3
      rehi text https://www.example.ee/andmed.csv --at 2026-03-01 --json
    """
    from rehi.operations.readings import get_text

    if at and number:
        raise click.UsageError("give either --at or --version")
    with open_house(ctx) as house:
        reading = get_text(house, url=url, version=number, at=at)
    if as_json:
        show_json(reading)
    else:
        click.echo("\n".join(printable(line) for line in reading.document.text.split("\n")))
