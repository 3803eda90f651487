"""Verification: whether an object holds exactly the bytes of a file."""

from __future__ import annotations

import hashlib
import os
import re
from typing import BinaryIO

from rehi.engines.bucket.store import Store, StoredObject
from rehi.engines.bucket.window import open_object
from rehi.model.version import RecordRef

PART = 8_388_608
MOST_PARTS = 9_000  # S3 takes 10,000
_MD5 = re.compile(r"([0-9a-f]{32})(?:-([0-9]{1,5}))?")
_CHUNK = 1_048_576


def size_of(file: BinaryIO) -> int:
    """Return the size of an open file in bytes, also of one that was deleted."""
    return os.fstat(file.fileno()).st_size


def part_size(size: int) -> int:
    """Return how many bytes each part of a multipart upload has, for a file of that size."""
    return max(PART, -(-size // MOST_PARTS))


def holds_same_bytes(store: Store, file: BinaryIO, stored: StoredObject, *, just_written: bool) -> bool:
    """Whether an object has the bytes of a file: by its ETag if that is an MD5 of the content, else by reading it.

    If the ETag is of another kind and the object was written just now, the same size is enough.
    """
    if stored.size != size_of(file):
        return False
    md5 = _MD5.fullmatch(stored.etag)
    if md5 is None and just_written:
        return True
    if md5 is not None and md5[1] == _md5(file, parts=md5[2]):
        return True
    return _reads_same(store, file, stored)  # stores that encrypt have ETags that only look like a digest


def _md5(file: BinaryIO, *, parts: str | None) -> str:
    """Return the MD5 of a file as S3 computes it: of the content, or of the digests of its parts."""
    file.seek(0)
    size = size_of(file)
    if parts is None:
        return _digest(file, size).hex()
    part = size if parts == "1" else part_size(size)
    digests = [_digest(file, part) for _ in range(0, size, max(part, 1))]
    return hashlib.md5(b"".join(digests), usedforsecurity=False).hexdigest()


def _digest(file: BinaryIO, length: int) -> bytes:
    digest = hashlib.md5(usedforsecurity=False)
    while length > 0 and (chunk := file.read(min(length, _CHUNK))):
        digest.update(chunk)
        length -= len(chunk)
    return digest.digest()


def _reads_same(store: Store, file: BinaryIO, stored: StoredObject) -> bool:
    file.seek(0)
    with open_object(store, RecordRef(stored.name, 0, stored.size)) as theirs:
        while chunk := file.read(_CHUNK):
            if theirs.read(len(chunk)) != chunk:
                return False
    return True
