"""The output: a table for people, JSON for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click

from rehi.app import House
from rehi.model.plain import to_plain
from rehi.settings import load_settings

# What a terminal would obey instead of showing it: a page's address or a robots.txt may hold anything.
_OBEYED = dict.fromkeys((*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)), "\ufffd")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


@contextmanager
def open_house(ctx: click.Context, **given: Any) -> Iterator[House]:
    """Open the house of the settings that were given before the command's name."""
    config, options = ctx.obj
    with House(load_settings(config, **options, **given)) as house:
        yield house


def show_json(value: object) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(to_plain(value), ensure_ascii=False, indent=2))


def printable(text: str) -> str:
    """Return text from elsewhere, without anything that a terminal would obey."""
    return text.translate(_OBEYED)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str) -> None:
    """Print rows under their columns, or a sentence when there are none."""
    if not rows:
        click.echo(empty)
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column, sample in zip(columns, rows[0], strict=True):
        table.add_column(column, justify="right" if isinstance(sample, int | float) else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))  # Text: nothing in it is read as markup
    wide = None if os.isatty(1) else 200
    Console(width=wide, highlight=False).print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return "" if value is None else printable(str(value))
