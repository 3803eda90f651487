"""A proof: whether an object holds exactly the bytes of a file."""

from __future__ import annotations

import hashlib
import os
import re
from typing import BinaryIO

from rehi.engines.bucket.store import Found, Store
from rehi.engines.bucket.window import open_object
from rehi.model.version import RecordRef

PART = 8_388_608
MOST_PARTS = 9_000  # S3 takes 10,000
_MD5 = re.compile(r"([0-9a-f]{32})(?:-([0-9]{1,5}))?")
_CHUNK = 1_048_576


def size_of(file: BinaryIO) -> int:
    """The bytes of an open file, also of one that has no name any more."""
    return os.fstat(file.fileno()).st_size


def part_of(size: int) -> int:
    """The bytes in each part of a file of that size."""
    return max(PART, -(-size // MOST_PARTS))


def is_same(store: Store, file: BinaryIO, found: Found, *, ours: bool) -> bool:
    """Whether an object is a file's copy: by its ETag where that is a digest of the content, else by reading it.

    An ETag of another kind says nothing; an object of ours, that was written just now, is believed by its size then.
    """
    if found.size != size_of(file):
        return False
    said = _MD5.fullmatch(found.etag)
    if said is None and ours:
        return True
    if said is not None and said[1] == _md5(file, parts=said[2]):
        return True
    return _reads_same(store, file, found)  # stores that encrypt have ETags that only look like a digest


def _md5(file: BinaryIO, *, parts: str | None) -> str:
    """As S3 computes it: of the content, or of the digests of its parts."""
    file.seek(0)
    size = size_of(file)
    if parts is None:
        return _digest(file, size).hex()
    part = size if parts == "1" else part_of(size)
    digests = [_digest(file, part) for _ in range(0, size, max(part, 1))]
    return hashlib.md5(b"".join(digests), usedforsecurity=False).hexdigest()


def _digest(file: BinaryIO, length: int) -> bytes:
    digest = hashlib.md5(usedforsecurity=False)
    while length > 0 and (chunk := file.read(min(length, _CHUNK))):
        digest.update(chunk)
        length -= len(chunk)
    return digest.digest()


def _reads_same(store: Store, file: BinaryIO, found: Found) -> bool:
    file.seek(0)
    with open_object(store, RecordRef(found.name, 0, found.size)) as theirs:
        while chunk := file.read(_CHUNK):
            if theirs.read(len(chunk)) != chunk:
                return False
    return True
