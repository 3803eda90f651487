"""Crawls made elsewhere: the records of WARC and ARC files that others have written."""

from rehi.archive.foreign.digest import new_hash, parse_digest
from rehi.archive.foreign.fields import Fields, read_date
from rehi.archive.foreign.message import Message, read_request
from rehi.archive.foreign.reader import Damage, ForeignFile, ForeignRecord, open_foreign

__all__ = [
    "Damage",
    "Fields",
    "ForeignFile",
    "ForeignRecord",
    "Message",
    "new_hash",
    "open_foreign",
    "parse_digest",
    "read_date",
    "read_request",
]
