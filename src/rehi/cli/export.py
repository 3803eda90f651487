"""``rehi export``: what is kept, as WARC, WACZ or files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from rehi.cli.foreground import stop_on_signals
from rehi.cli.output import json_option, open_house, printable, show_json, show_table
from rehi.errors import QueryError

if TYPE_CHECKING:
    from rehi.archive.export import Exported

_MEGABYTE = 1_000_000
_SHOWN_EVERY = 0.2  # seconds


@click.command("export")
@click.argument("kind", type=click.Choice(["warc", "wacz", "files"]))
@click.argument("dest", type=click.Path(path_type=Path))
@click.option("--source", "source_id", type=click.IntRange(1, 2**63 - 1), metavar="N", help="Only pages of a source.")
@click.option("--host", default="", metavar="NAME", help="Only pages of a host.")
@click.option("--subdomains", is_flag=True, help="With --host: also of the hosts below it.")
@click.option(
    "--type", "media_type", default="", metavar="TYPE", help="Only this type: text/html, or image/ for a kind."
)
@click.option("--since", default="", metavar="MOMENT", help="Only what was there then or later, as in 2026-03-01.")
@click.option("--until", default="", metavar="MOMENT", help="Only what was there then or before.")
@click.option("--url-prefix", "prefix", default="", metavar="URL", help="Only URLs that begin so.")
@click.option("--sparql", default="", metavar="QUERY|@FILE", help="Only the documents that a SELECT finds, by its first variable.")  # fmt: skip
@click.option("--versions-only", is_flag=True, help="Without redirects and visits that found nothing new.")
@click.option("--file-size", default=1000, show_default=True, type=click.IntRange(1, 1_000_000), metavar="MB",
              help="WARC files are rolled at this size.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace an older export of that name.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, kind: str, dest: Path, sparql: str, file_size: int, force: bool, as_json: bool, **part: Any
) -> int:
    """Write what is kept, or a part of it, for other tools: plain WARC 1.1 with its index into a folder, one WACZ file,
    or files in folders by date and host.

    Nothing is at DEST before all of it is. What was dropped by a rule, or can't be read, is left out and counted; if
    there is anything that can't be read, the command ends with 1.

    \b
    Examples:
      rehi export warc /backup/all
      rehi export wacz village.wacz --host www.example.ee --since 2026-01-01
      rehi export files out --type text/csv --versions-only
      rehi export warc out --sparql 'SELECT ?page WHERE { ?who foaf:name "Katrin Paio" ; ner:mentionedAtSite ?page }'
    """
    from rehi.operations.export import ExportKind, export, what_to_export

    if part["subdomains"] and not part["host"]:
        raise click.UsageError("--subdomains needs --host")
    stop = stop_on_signals()
    with open_house(ctx) as house, _counter(quiet=as_json) as show:
        where = what_to_export(house, sparql=_query(sparql), **part)

        def watch(exported: Exported) -> None:
            if stop.is_set():
                raise click.Abort
            show(exported)

        exported = export(
            house, ExportKind(kind), dest, where, force=force, file_bytes=file_size * _MEGABYTE, watch=watch
        )
    if as_json:
        show_json({"path": str(dest), **_to_row(exported)})
    else:
        _show(exported, dest)
    return 1 if exported.unreadable else 0


def _query(given: str) -> str:
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise QueryError(f"the query file {given[1:]} can't be read: {error}") from error


def _to_row(exported: Exported) -> dict[str, object]:
    return {
        "captures": exported.captures,
        "counts": dict(exported.counts),
        "bytes": exported.bytes,
        "files": exported.files,
        "dropped": exported.dropped,
        "unreadable": exported.unreadable,
        "reasons": exported.reasons,
    }


def _show(exported: Exported, dest: Path) -> None:
    rows = [("captures", exported.captures), *sorted(exported.counts.items()), ("bytes", exported.bytes)]
    left_out = [("dropped by a rule", exported.dropped), ("unreadable", exported.unreadable)]
    show_table(("what", "number"), [*rows, *(row for row in left_out if row[1])], empty="")
    click.echo(f"Written to {printable(str(dest))}")
    for reason in exported.reasons:
        click.echo(f"left out: {printable(reason)}", err=True)
    if exported.unreadable > len(exported.reasons):
        click.echo(f"and {exported.unreadable - len(exported.reasons):,} more", err=True)


@contextmanager
def _counter(*, quiet: bool) -> Iterator[Callable[[Exported], None]]:
    """Show live numbers where there is a screen; how many there will be is not known before."""
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("export"),
        TextColumn("{task.description}", markup=False),
        DownloadColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as bar:
        task, shown_at = bar.add_task("", total=None), 0.0

        def show(exported: Exported) -> None:
            nonlocal shown_at
            if monotonic() - shown_at >= _SHOWN_EVERY:
                shown_at = monotonic()
                bar.update(task, completed=exported.bytes, description=f"{exported.captures:,} captures")

        yield show
