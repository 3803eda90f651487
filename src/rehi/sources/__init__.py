"""The sources room: discovers, in a crawl log or a list of URLs, what to visit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rehi.model.source import Finding, SourceKind
from rehi.sources.crawl_log import read_crawl_log
from rehi.sources.detect import detect
from rehi.sources.hosts import host_meant
from rehi.sources.opening import Lines, open_lines
from rehi.sources.url_list import read_url_list
from rehi.sources.urls import is_visitable, normalise

__all__ = ["Lines", "detect", "host_meant", "is_visitable", "normalise", "open_lines", "read_source"]


def read_source(kind: SourceKind, lines: Iterable[bytes], *, start: int = 0) -> Iterator[Finding]:
    """One finding for each line after the first ``start``, which were taken in before."""
    if kind is SourceKind.CRAWL_LOG:
        return read_crawl_log(lines, start=start)
    return read_url_list(lines, start=start)  # a single page is a list of one
