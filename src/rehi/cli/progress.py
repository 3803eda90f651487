"""Progress in the terminal: a bar where there is a screen, nothing where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from rehi.model.update import Update
    from rehi.pipeline import Progress as HarvestProgress


@contextmanager
def bytes_bar(label: str, *, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show a bar that is told how many bytes are done."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(label, total=total or None)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def harvest_bar(*, quiet: bool, waiting: Callable[[], int]) -> Iterator[Callable[[HarvestProgress], None]]:
    """Show a bar of visits with live numbers; ``waiting`` says how many are still due."""
    with _visits_bar("harvest", quiet=quiet) as draw:
        shown_at = 0.0

        def show(progress: HarvestProgress) -> None:
            nonlocal shown_at
            if monotonic() - shown_at < 0.2:
                return
            shown_at = monotonic()
            counts = progress.counts
            if progress.outages:  # then nobody can tell how much is left
                draw(counts["visited"], counts["visited"], f"waiting: {progress.outages[0].message}")
                return
            text = (
                f"{counts['new']} new, {counts['unchanged']} unchanged, {counts['failed']} failed, "
                f"{counts['read']} read, {counts['names']} names, {counts['statements']} statements"
            )
            draw(counts["visited"], counts["visited"] + waiting(), text)

        yield show


@contextmanager
def update_bar(*, quiet: bool) -> Iterator[Callable[[Update], None]]:
    """Show a bar for an update that somebody else carries out, from its row."""
    with _visits_bar("update", quiet=quiet) as draw:

        def show(update: Update) -> None:
            visited = update.counts.get("visited", 0)
            shown = ("first", "changed", "unchanged", "gone", "problems")
            text = ", ".join(f"{update.counts.get(name, 0)} {name}" for name in shown)
            draw(visited, max(update.due, visited), text)

        yield show


@contextmanager
def _visits_bar(label: str, *, quiet: bool) -> Iterator[Callable[[int, int, str], None]]:
    """Show a bar, and give the function that moves it: visits done, visits in all, and a text beside them."""
    console = Console(stderr=True)
    columns = (
        TextColumn(label, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, refresh_per_second=5) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, text: bar.update(task, completed=done, total=total, description=text)
