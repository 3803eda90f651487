"""A source of lines: read from where its cursor stands, in batches, each line accounted for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from rehi.errors import SourceError
from rehi.model.source import Entry, Source
from rehi.sources.kind import Discovered, Fetch
from rehi.sources.opening import open_lines

BATCH = 40_000  # lines; with half of that a log took a sixth more CPU: each batch touches most of the index of URLs

ReadLines = Callable[[Iterable[bytes], int], Iterator[Entry]]  # of the lines, with the number of those before them


def discover_lines(source: Source, cursor: bytes, fetch: Fetch, read: ReadLines) -> Iterator[Discovered]:
    """Yield the entries of the lines that follow those that the cursor counts.

    When the source breaks off, what came before is yielded, and the error is raised after that.
    """
    done = read_cursor(cursor)
    with fetch(source.location) as fetched, open_lines(fetched.path) as lines:
        entries = read(islice(lines, done, None), done)
        broken: SourceError | None = None
        while broken is None:
            batch: list[Entry] = []
            try:
                batch.extend(islice(entries, BATCH))
            except SourceError as error:
                broken = error
            if not batch:
                break
            done += len(batch)
            yield Discovered(batch, b"%d" % done, min(1.0, lines.bytes_read / max(1, lines.size)))
    if broken is not None:
        raise broken


def read_cursor(cursor: bytes) -> int:
    """Return the number of lines or the offset that a cursor holds; 0 for a source that was not begun."""
    return int(cursor) if cursor.isdigit() else 0
