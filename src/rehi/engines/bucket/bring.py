"""How one file is brought to a bucket: whole or not at all, and over nobody else's object."""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress
from typing import BinaryIO

from rehi.engines.bucket.probe import Abilities
from rehi.engines.bucket.proof import is_same, part_of, size_of
from rehi.engines.bucket.store import Store
from rehi.errors import ObjectDiffers, StoreUnreachable

SMALL = 16_777_216  # written with one request, from memory
COPIED = 5_000_000_000  # S3 copies no more than this in one request
INCOMING = ".incoming"

_log = logging.getLogger(__name__)


def bring(store: Store, can: Abilities, name: str, file: BinaryIO, *, replaces: bool) -> None:
    """The bucket has what the file holds when this returns; ObjectDiffers if it has other bytes of that name."""
    size = size_of(file)
    if replaces:
        _write(store, name, file, size)
        ours = True
    elif size <= SMALL and can.conditional_put:
        ours = store.create(name, _content(file))
    elif store.find(name) is not None:
        ours = False
    elif SMALL < size <= COPIED and can.conditional_copy:
        ours = _write_aside(store, name, file, size)
        if ours:
            return
    else:
        _write(store, name, file, size)
        ours = True
    found = store.find(name)
    if found is None:
        raise StoreUnreachable(f"{store.uri}: {name} was written, and is not there")
    if not is_same(store, file, found, ours=ours):
        if replaces:  # somebody else has written there at the same time
            raise StoreUnreachable(f"{store.uri}: {name} did not arrive as it was sent")
        raise ObjectDiffers(f"{store.uri} has other bytes under the name {name}, {found.size:,} of them")


def _content(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _write(store: Store, name: str, file: BinaryIO, size: int) -> None:
    if size <= SMALL:
        store.write(name, _content(file))
    else:
        store.write_parts(name, file, part=part_of(size))


def _write_aside(store: Store, name: str, file: BinaryIO, size: int) -> bool:
    """An object in parts can't be written on the condition that there is none; a copy inside the store can.

    The bytes are checked before they get their name, since a copy's ETag is made by each store in its own way.
    """
    _clear(store, name)
    aside = f"{INCOMING}/{name}.{secrets.token_hex(8)}"
    try:
        store.write_parts(aside, file, part=part_of(size))
        found = store.find(aside)
        if found is None or not is_same(store, file, found, ours=True):
            raise StoreUnreachable(f"{store.uri}: {name} did not arrive as it was sent")
        if not store.copy_new(aside, name):
            return False
        copied = store.find(name)
        if copied is None or copied.size != size:
            raise StoreUnreachable(f"{store.uri}: {name} was not copied as it was sent")
        return True
    finally:
        with suppress(StoreUnreachable):
            store.delete(aside)


def _clear(store: Store, name: str) -> None:
    """Remove what an upload has left that was killed."""
    for found in store.list(INCOMING):
        if found.name.startswith(f"{INCOMING}/{name}."):
            _log.info("an upload of %s that came to nothing is removed from %s", name, store.uri)
            store.delete(found.name)
