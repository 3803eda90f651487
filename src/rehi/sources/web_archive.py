"""A web archive, told by its first bytes: WARC or ARC, plain or packed."""

from __future__ import annotations

import re
from pathlib import Path

from rehi.errors import SourceError
from rehi.sources.kind import NOT_AT_ALL, Recognition, SourceSample
from rehi.sources.recognition import sample_file

_DICTIONARY = b"\x5d\x2a\x4d\x18"  # only a .warc.zst begins with a dictionary of its own
_WARC = re.compile(rb"[\r\n]*WARC/\d")
_ARC_FILE = re.compile(rb"[\r\n]*filedesc:\S* \S+ \d{12,14} \S+ \d+\r?\n\d+ \d+ [^\r\n]*\r?\n")
_ARC_RECORD = re.compile(rb"[\r\n]*(?:filedesc:|\S+ \S+ \d{14} \S+ \d+\r?\n)")
_NAMED = re.compile(r".+\.w?arc(?:\.gz|\.zst)?", re.IGNORECASE)


def recognise_archive(sample: SourceSample) -> Recognition:
    """Return how sure it is that this is a web archive.

    An ARC file says its version below its first line. A crawl log may begin with that first line, too, and has none.
    """
    if sample.first.startswith(_DICTIONARY) or _WARC.match(sample.start):
        return Recognition(0.99, "a web archive (WARC)")
    if _ARC_FILE.match(sample.start):
        return Recognition(0.95, "a web archive (ARC)")
    if _ARC_RECORD.match(sample.start):
        return Recognition(0.4, "a web archive (ARC)")
    if _NAMED.fullmatch(sample.name) and sample.first:  # its beginning is damaged, and perhaps not all of it
        return Recognition(0.15, "a damaged web archive")
    return NOT_AT_ALL


def find_crawls(folder: Path) -> list[Path]:
    """Return the web archives in a folder and the folders in it, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and _is_crawl(path))


def _is_crawl(path: Path) -> bool:
    try:
        return recognise_archive(sample_file(path, name=path.name)).certainty > 0
    except SourceError:  # it can't be opened: said better by those who read it
        return False
