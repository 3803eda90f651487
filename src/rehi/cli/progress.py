"""Progress in the terminal: a bar where there is a screen, nothing where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from rehi.pipeline import Progress as HarvestProgress


@contextmanager
def bytes_bar(label: str, *, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many bytes are done."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(label, total=total or None)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def harvest_bar(*, quiet: bool, waiting: Callable[[], int]) -> Iterator[Callable[[HarvestProgress], None]]:
    """A bar of visits with live numbers; ``waiting`` says how many are still due."""
    console = Console(stderr=True)
    columns = (
        TextColumn("harvest", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, refresh_per_second=5) as bar:
        task = bar.add_task("", total=None)
        shown_at = 0.0

        def show(progress: HarvestProgress) -> None:
            nonlocal shown_at
            if monotonic() - shown_at < 0.2:
                return
            shown_at = monotonic()
            counts = progress.counts
            left = waiting()
            text = (
                f"{counts['new']} new, {counts['unchanged']} unchanged, {counts['failed']} failed, "
                f"{counts['read']} read, {counts['names']} names, {counts['statements']} statements"
            )
            bar.update(task, completed=counts["visited"], total=counts["visited"] + left, description=text)

        yield show
