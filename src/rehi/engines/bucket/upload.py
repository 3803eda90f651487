"""The upload of one file to a bucket: whole or not at all, and never over another worker's object."""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress
from typing import BinaryIO

from rehi.engines.bucket.probe import Capabilities
from rehi.engines.bucket.store import Store
from rehi.engines.bucket.verification import holds_same_bytes, part_size, size_of
from rehi.errors import ArchiveAway, ObjectDiffers

SMALL = 16_777_216  # written with one request, from memory
COPIED = 5_000_000_000  # S3 copies no more than this in one request
INCOMING = ".incoming"

_log = logging.getLogger(__name__)


def upload(store: Store, capabilities: Capabilities, name: str, file: BinaryIO, *, replaces: bool) -> None:
    """Upload a file, unless the bucket has it already; ObjectDiffers if the bucket has other bytes under its name.

    With ``replaces``, an object of that name is overwritten.
    """
    size = size_of(file)
    if replaces:
        _write(store, name, file, size)
        written_by_us = True
    elif size <= SMALL and capabilities.conditional_put:
        written_by_us = store.create(name, _content(file))
    elif store.find(name) is not None:
        written_by_us = False
    elif SMALL < size <= COPIED and capabilities.conditional_copy:
        written_by_us = _write_and_copy(store, name, file, size)
        if written_by_us:
            return
    else:
        _write(store, name, file, size)
        written_by_us = True
    stored = store.find(name)
    if stored is None:
        raise ArchiveAway(f"{store.uri}: {name} was written, and is not there")
    if not holds_same_bytes(store, file, stored, just_written=written_by_us):
        if replaces:  # somebody else has written there at the same time
            raise ArchiveAway(f"{store.uri}: {name} did not arrive as it was sent")
        raise ObjectDiffers(f"{store.uri} has other bytes under the name {name}, {stored.size:,} of them")


def remove_leftovers(store: Store) -> None:
    """Remove what killed uploads have left of files that the bucket has; what they have left of others, an upload removes."""
    for stored in store.list(INCOMING):
        name = stored.name.removeprefix(f"{INCOMING}/").rpartition(".")[0]
        if store.find(name) is not None:
            _remove(store, stored.name)


def _content(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _write(store: Store, name: str, file: BinaryIO, size: int) -> None:
    if size <= SMALL:
        store.write(name, _content(file))
    else:
        store.write_parts(name, file, part=part_size(size))


def _write_and_copy(store: Store, name: str, file: BinaryIO, size: int) -> bool:
    """Upload a large file under a temporary name and copy it to its own; return False if that name is taken.

    A multipart upload can't be made on the condition that there is no object of its name; a copy inside the store can.

    The bytes are checked before they get their name, since a copy's ETag is made by each store in its own way.
    """
    _remove_earlier(store, name)
    temporary = f"{INCOMING}/{name}.{secrets.token_hex(8)}"
    try:
        store.write_parts(temporary, file, part=part_size(size))
        stored = store.find(temporary)
        if stored is None or not holds_same_bytes(store, file, stored, just_written=True):
            raise ArchiveAway(f"{store.uri}: {name} did not arrive as it was sent")
        if not store.copy_new(temporary, name):
            return False
        copied = store.find(name)
        if copied is None or copied.size != size:
            raise ArchiveAway(f"{store.uri}: {name} was not copied as it was sent")
        return True
    finally:
        with suppress(ArchiveAway):
            store.delete(temporary)


def _remove_earlier(store: Store, name: str) -> None:
    """Remove what killed uploads of a file have left."""
    for stored in store.list(INCOMING):
        if stored.name.startswith(f"{INCOMING}/{name}."):
            _remove(store, stored.name)


def _remove(store: Store, temporary: str) -> None:
    _log.info("%s is removed from %s: it was left by an upload that was ended", temporary, store.uri)
    store.delete(temporary)
