"""The archive: every exchange as it was, in WARC 1.1 files that are only ever appended to."""

from rehi.archive.body import RecordHeaders, open_body, read_headers
from rehi.archive.derived import DerivedFiles, write_reading
from rehi.archive.http_head import HttpHead
from rehi.archive.keeper import Archive
from rehi.archive.recovery import Kept, Torn, recover

__all__ = [
    "Archive",
    "DerivedFiles",
    "HttpHead",
    "Kept",
    "RecordHeaders",
    "Torn",
    "open_body",
    "read_headers",
    "recover",
    "write_reading",
]
