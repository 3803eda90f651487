"""``rehi archive stats``: what is kept, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rehi.cli.output import json_option, open_house, show_json, show_table

if TYPE_CHECKING:
    from rehi.model.holdings import Holding
    from rehi.operations.archive_stats import ArchiveStats


@click.command("stats")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 100_000), help="Types and hosts shown.")
@click.option(
    "--sample", default=200, show_default=True, type=click.IntRange(0, 1_000_000), metavar="N",
    help="Look at the records of N bodies, to tell deltas from whole ones; all of them, if there are no more.",
)  # fmt: skip
@json_option
@click.pass_context
def command(ctx: click.Context, limit: int, sample: int, as_json: bool) -> None:
    """Show what the archive holds: versions, their bytes, what was stored of them and what was saved.

    Logical bytes are those of all versions, distinct ones those of all different bodies, and stored ones those of the
    versions' own records, compressed or as deltas. Bytes that were dropped are counted apart.

    \b
    Examples:
      rehi archive stats
      rehi archive stats --limit 5 --sample 0
      rehi archive stats --json
    """
    from rehi.operations.archive_stats import get_archive_stats, to_numbers

    with open_house(ctx) as house:
        stats = get_archive_stats(house, limit=limit, sample=sample)
    if as_json:
        show_json(to_numbers(stats))
        return
    show_table(("what", "number"), _rows(stats), empty="")
    if stats.sample is not None:
        click.echo(stats.sample.summary)
    if not stats.holdings.versions:
        click.echo("Nothing is kept yet.")
        return
    _show("type", stats.holdings.by_type, stats.holdings.types)
    _show("host", stats.holdings.by_host, stats.holdings.hosts)


def _rows(stats: ArchiveStats) -> list[tuple[str, int]]:
    held = stats.holdings
    return [
        ("versions", held.versions),
        ("different bodies", held.bodies),
        ("versions whose bytes were there already", held.revisits),
        ("logical bytes", held.logical),
        ("distinct bytes", held.distinct),
        ("duplicate bytes that were not stored", held.duplicate),
        ("stored bytes of versions", held.stored),
        ("files", stats.files),
        ("bytes of all files", stats.file_bytes),
        ("dropped versions", held.dropped_versions),
        ("dropped bodies", held.dropped_bodies),
        ("dropped bytes", held.dropped_bytes),
    ]


def _show(title: str, rows: tuple[Holding, ...], total: int) -> None:
    columns = (title, "versions", "logical", "distinct", "duplicate", "stored")
    shown = [
        (row.name or "(none said)", row.versions, row.logical, row.distinct, row.duplicate, row.stored) for row in rows
    ]
    show_table(columns, shown, empty="")
    if total > len(rows):
        click.echo(f"{total - len(rows):,} more; raise --limit to see them.")
