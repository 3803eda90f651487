"""Sealing: a WARC file that is large enough gets an index beside it, and is never appended to again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rehi.archive.cdxj import REVISIT, SortedLines, cdxj_line
from rehi.archive.walk import SUFFIX, Walk, WholeRecord
from rehi.ports import Shelf

INDEX = ".cdxj"


def index_name(file: str) -> str:
    """Return the name of a file's index."""
    return file.removesuffix(SUFFIX) + INDEX


def seal_file(shelf: Shelf, file: str, size: int, *, spool: Path | None = None) -> None:
    """Seal a file and write its index. The index is written last, so that what was interrupted is done again."""
    with SortedLines(spool) as lines:
        for line in _lines(shelf, file, size):
            lines.add(line)
        shelf.seal(file)
        shelf.put(index_name(file), (f"{line}\n".encode() for line in lines))


def _lines(shelf: Shelf, file: str, size: int) -> Iterator[str]:
    """Yield a line for each answer that replay tools can show, so none for deltas."""
    for item in Walk(shelf, file, size, decode_deltas=False).records():
        if isinstance(item, WholeRecord) and (line := index_line(item)):
            yield line


def index_line(item: WholeRecord) -> str:
    """Return the CDXJ line of a record, without its end; empty if the record is no answer."""
    kept = item.kept
    if kept is None:
        return ""
    return cdxj_line(
        url=kept.url,
        at=kept.at,
        mime=REVISIT if kept.revisit else kept.media_type,
        status=kept.status,
        digest=kept.digest,
        length=item.ref.length,
        offset=item.ref.offset,
        filename=item.ref.file,
    )
