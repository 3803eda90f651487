"""``rehi diff``: what is different between two versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rehi.cli.output import json_option, open_house, printable, show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rehi.compare import Line, LinePiece, NamesDiff, TableDiff, TreeDiff
    from rehi.operations.diff.result import DiffSide, VersionDiff

SHOWN = 200  # lines, rows or values, unless more are asked for
COLUMNS = 8  # of an added or removed row
_CELL = 60  # characters of a cell
_COLOURS = {"added": "green", "removed": "red", "changed": "yellow", "reordered": "yellow"}
_SIGNS = {"added": "+", "removed": "-", "changed": "~", "reordered": "%", "same": " "}


@click.command("diff")
@click.argument("url")
@click.argument("since", metavar="[FROM]", default="")
@click.argument("until", metavar="[TO]", default="")
@click.option("--key", default="", help="For tables: the columns by which rows are known, as in id or country,year.")
@click.option("--blame", is_flag=True, help="For tables: since when each row of TO has been as it is.")
@click.option("--names/--no-names", default=True, help="Whether to look for names that appeared or vanished.")
@click.option("--limit", type=click.IntRange(1, 100_000), help="Show no more than these (200; 10,000 as JSON).")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    url: str,
    since: str,
    until: str,
    key: str,
    blame: bool,
    names: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """Show what is different between two versions of URL: the two newest, or FROM and TO, or FROM and the newest.

    FROM and TO are numbers of versions or moments (2026-03-01, 2026-03-01T12:30); a day means its end. Pages and
    PDF files are compared by their text, CSV files by row and column, JSON and XML by path.

    \b
    Examples:
      rehi diff https://www.example.ee/
      rehi diff https://www.example.ee/ 2026-03-01 2026-04-01
      rehi diff https://www.example.ee/hinnad.csv 3 7 --key kood
      rehi diff https://www.example.ee/hinnad.csv --blame --no-names
    """
    from rehi.operations.diff.request import MOST, diff_versions

    columns = [name.strip() for name in key.split(",") if name.strip()]
    if key and not columns:
        raise click.UsageError("--key needs the name of a column")
    most = limit or (MOST if as_json else SHOWN)
    with open_house(ctx) as house:
        diff = diff_versions(house, url, since, until, key=columns, names=names, blame=blame, most=most)
    if as_json:
        show_json(diff)
        return
    _show(diff, most)


def _show(diff: VersionDiff, most: int) -> None:
    click.echo(printable(diff.url))
    click.echo(f"  from {_side(diff.old)}\n  to   {_side(diff.new)}\n")
    if diff.identical:
        click.echo("Both hold the same bytes.")
    elif diff.tally is not None:
        tally = diff.tally
        click.echo(
            f"{tally.unit.capitalize()}: {tally.added:,} added, {tally.removed:,} removed, {tally.changed:,} changed, "
            f"{tally.same:,} the same."
        )
    else:
        click.echo(f"The bytes differ: {diff.old.digest} became {diff.new.digest}.")
    for note in diff.notes:
        click.echo(f"Note: {printable(note)}")
    click.echo()
    if diff.lines and not diff.identical:
        _show_lines(diff.lines)
    if diff.table is not None:
        _show_table(diff.table, diff)
    if diff.tree is not None:
        _show_tree(diff.tree)
    if diff.blame is not None and diff.table is not None:
        _show_blame(diff)
    if diff.names is not None:
        _show_names(diff.names)
    if not diff.complete:
        click.echo(f"There is more; only the first {most:,} of each kind are shown. Raise --limit to see them.")


def _side(side: DiffSide) -> str:
    return f"version {side.number}, {side.taken_at:%Y-%m-%d %H:%M:%S} UTC, {side.size:,} bytes, {printable(side.true_type)}"


def _show_lines(lines: Iterable[Line]) -> None:
    for line in lines:
        if line.kind == "folded":
            click.secho(f"    … {line.count:,} lines are the same …", dim=True)
        elif line.kind == "changed":
            click.echo(click.style("~ ", fg="yellow") + "".join(map(_piece, line.pieces)))
        else:
            text = printable("".join(piece.text for piece in line.pieces))
            click.secho(f"{_SIGNS[line.kind]} {text}", fg=_COLOURS.get(line.kind))
    click.echo()


def _piece(piece: LinePiece) -> str:
    text = printable(piece.text)
    if piece.part == "same":
        return text
    marked = f"{{+{text}+}}" if piece.part == "added" else f"[-{text}-]"
    return click.style(marked, fg=_COLOURS[piece.part])


def _show_table(table: TableDiff, diff: VersionDiff) -> None:
    key = ", ".join(table.key.columns)
    click.echo(f"Key: {printable(key)} ({table.key.why})." if key else "There is no key: rows are known as wholes.")
    schema = table.schema
    for change, names in (("added", schema.added), ("removed", schema.removed)):
        if names:
            click.secho(f"Columns {change}: {printable(', '.join(names))}", fg=_COLOURS[change])
    for old, new in schema.renamed:
        click.secho(f"Column renamed, by its values: {printable(old)} → {printable(new)}", fg="yellow")
    if schema.reordered:
        click.echo("The columns stand in another order.")
    if table.moved:
        click.echo(f"{table.moved:,} rows stand in another place.")
    click.echo()
    cells = [
        (_short(", ".join(row.label)), row.new_number, cell.column, _short(cell.old), _short(cell.new))
        for row in table.changed
        for cell in row.cells
    ]
    if cells:
        show_table((_short(key) or "row", "row no.", "column", "old", "new"), cells, empty="")
    for change, rows, columns in (("added", table.added, table.columns), ("removed", table.removed, table.old_columns)):
        if rows:
            click.secho(f"Rows {change}: {getattr(diff.tally, change):,}", fg=_COLOURS[change])
            shown = [(row.number, *map(_short, row.cells[:COLUMNS])) for row in rows]
            show_table(("no.", *map(_short, columns[:COLUMNS])), shown, empty="")
            _say_more_columns(len(columns))


def _say_more_columns(count: int) -> None:
    if count > COLUMNS:
        click.echo(f"{count - COLUMNS:,} more columns are not shown here; --json has them.\n")


def _show_tree(tree: TreeDiff) -> None:
    for list_key in tree.keys[:20]:
        click.echo(f"Items of {printable(list_key.path)} are known by {printable(list_key.name)}.")
    for change in tree.changes:
        values = " → ".join(_short(value, 200) for value in (change.old, change.new) if value is not None)
        line = f"{_SIGNS[change.kind]} {printable(change.path)}{': ' if values else ' is in another order'}{values}"
        click.secho(line, fg=_COLOURS[change.kind])
    click.echo()


def _show_blame(diff: VersionDiff) -> None:
    columns = diff.table.columns[:COLUMNS] if diff.table else ()
    rows = [
        (row.number, row.version, row.since, _BEGINNINGS[row.beginning], *map(_short, row.cells[:COLUMNS]))
        for row in diff.blame or ()
    ]
    click.echo("Since when each row has been as it is:")
    show_table(("no.", "version", "since (UTC)", "how", *map(_short, columns)), rows, empty="There are no rows.")
    _say_more_columns(len(diff.table.columns) if diff.table else 0)


_BEGINNINGS = {"appeared": "appeared", "changed": "changed", "first": "or longer"}


def _show_names(names: NamesDiff) -> None:
    rows = [
        *(("appeared", one.key.kind, one.name, one.count) for one in names.appeared),
        *(("vanished", one.key.kind, one.name, one.count) for one in names.vanished),
    ]
    empty = (
        f"No name appeared or vanished; {names.stayed:,} are in both." if names.stayed else "There are no names in it."
    )
    show_table(("", "kind", "name", "times"), rows, empty=empty)


def _short(text: str, longest: int = _CELL) -> str:
    line = printable(" ".join(text[: longest * 4].split()))
    return line if len(line) <= longest else f"{line[:longest]}…"
