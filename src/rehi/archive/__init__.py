"""The archive: keeps every exchange as it was, in WARC 1.1 files that are only appended to."""

from rehi.archive.body import RecordHeaders, open_body, read_headers
from rehi.archive.cdxj import SortedLines
from rehi.archive.compaction import Compacted, original_name, own_files
from rehi.archive.derived import DerivedFiles, is_derived, write_reading
from rehi.archive.elsewhere import OwnedShelf
from rehi.archive.excision import DAMAGED, Excised, index_starts
from rehi.archive.http_head import HttpHead
from rehi.archive.index_check import IndexCheck, sample_index
from rehi.archive.keeper import Archive
from rehi.archive.recovery import TornPart, recover
from rehi.archive.seal import index_name
from rehi.archive.tombstone import is_tombstone, read_tombstone, read_tombstones, tombstone_files, write_tombstones
from rehi.archive.walk import DamagedPart, KeptVisit, Walk, WholeRecord

__all__ = [
    "DAMAGED",
    "Archive",
    "Compacted",
    "DamagedPart",
    "DerivedFiles",
    "Excised",
    "HttpHead",
    "IndexCheck",
    "KeptVisit",
    "OwnedShelf",
    "RecordHeaders",
    "SortedLines",
    "TornPart",
    "Walk",
    "WholeRecord",
    "index_name",
    "index_starts",
    "is_derived",
    "is_tombstone",
    "open_body",
    "original_name",
    "own_files",
    "read_headers",
    "read_tombstone",
    "read_tombstones",
    "recover",
    "sample_index",
    "tombstone_files",
    "write_reading",
    "write_tombstones",
]
