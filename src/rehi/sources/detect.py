"""The kind of a source, told by its first lines."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from rehi.errors import SourceError
from rehi.model.source import SourceKind
from rehi.sources.crawl_log import is_crawl_log_line
from rehi.sources.line import BOM, is_blank
from rehi.sources.opening import open_lines
from rehi.sources.url_list import is_url_line
from rehi.sources.web_archive import holds_crawl, is_named_so

_LOOKED_AT = 100  # lines, besides blank ones
_BLANK_LINES = 10_000  # after so many a file says nothing
_SHARE_OF_URLS = 0.2  # prose mentions a URL here and there; a list may have a heading and a few slips
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b")) + b"\x7f"


def detect(path: Path) -> SourceKind:
    """What kind of source a file is; SourceError says in one sentence why it is none."""
    if holds_crawl(path):
        return SourceKind.WARC
    try:
        return _detect_lines(path)
    except SourceError:
        if is_named_so(path):  # its beginning is damaged, and perhaps not all of it
            return SourceKind.WARC
        raise


def _detect_lines(path: Path) -> SourceKind:
    lines = _first_lines(path)
    if any(is_crawl_log_line(line) for line in lines):
        return SourceKind.CRAWL_LOG
    urls = sum(is_url_line(line) for line in lines)
    if urls == 0:
        raise SourceError(
            f"{path} is not a crawl log or a list: none of its first {len(lines)} lines is a crawl-log line or a URL"
        )
    if urls < len(lines) * _SHARE_OF_URLS:
        raise SourceError(f"{path} is not a crawl log or a list: only {urls} of its first {len(lines)} lines are URLs")
    return SourceKind.URL_LIST


def _first_lines(path: Path) -> list[bytes]:
    with open_lines(path) as lines:
        if lines.size == 0:
            raise SourceError(f"{path} is empty")
        found: list[bytes] = []
        for line in islice(lines, _BLANK_LINES):
            _refuse_binary(path, line, first=not found)
            if not is_blank(line):
                found.append(line)
            if len(found) == _LOOKED_AT:
                break
    if not found:
        raise SourceError(f"{path} has nothing in it but blank lines and comments")
    return found


def _refuse_binary(path: Path, line: bytes, *, first: bool) -> None:
    if first and line.startswith(_UTF16):
        raise SourceError(f"{path} is written in UTF-16; save it as UTF-8 and add it again")
    controls = len(line) - len(line.translate(None, _CONTROLS))
    if b"\0" in line or controls > len(line.removeprefix(BOM)) // 10:
        raise SourceError(f"{path} is a binary file, not a crawl log or a list of URLs")
