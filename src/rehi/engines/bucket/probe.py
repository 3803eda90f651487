"""The probe: finds out by trying what the server of a bucket can do."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from rehi.engines.bucket.store import Store
from rehi.errors import ArchiveAway, ArchiveRefuses, EngineError

FOLDER = ".probe"
_LEFT_BEHIND = timedelta(hours=1)  # objects older than this were left by a probe that was killed
_BYTES = b"0123456789abcdef"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a bucket's server can do."""

    conditional_put: bool  # it can write on the condition that there is no object of that name
    conditional_copy: bool  # it can copy on that condition, as is done with large files
    lists_at_once: bool  # a new object is in the next listing

    def describe(self) -> str:
        """Return the capabilities as one line for people."""
        good = ["reads ranges"]
        bad: list[str] = []
        (good if self.conditional_put else bad).append("conditional put")
        (good if self.conditional_copy else bad).append("conditional copy")
        (good if self.lists_at_once else bad).append("lists new objects at once")
        line = ", ".join(good)
        if not bad:
            return line
        return f"{line}; without {', '.join(bad)}: give each data folder a prefix of its own"


def probe(store: Store) -> Capabilities:
    """Try all on two small objects, and return what works.

    EngineError if the bucket can't be used, ArchiveAway if it does not answer: that may pass.
    """
    first, second = (f"{FOLDER}/{secrets.token_hex(8)}" for _ in range(2))
    try:
        store.list(FOLDER)  # fails with a clear error if there is no such bucket, or no access to it
        return _try(store, first, second)
    except ArchiveRefuses as error:
        raise EngineError(f"{error}; look at archive.uri, archive.endpoint and the credentials") from error


def _try(store: Store, first: str, second: str) -> Capabilities:
    try:
        conditional = _creates_once(store, first)
        if not _reads_ranges(store, first):
            raise EngineError(
                f"{store.uri} does not read ranges of objects: rehi can't use it, name another archive.uri"
            )
        copies = _copies_once(store, first, second)
        lists = _lists(store, first)
    finally:
        for name in (first, second):
            with suppress(ArchiveAway):
                store.delete(name)
    return Capabilities(conditional_put=conditional, conditional_copy=copies, lists_at_once=lists)


def _creates_once(store: Store, name: str) -> bool:
    try:
        store.create(name, _BYTES)
        return not store.create(name, _BYTES)
    except ArchiveAway:
        store.write(name, _BYTES)
        return False


def _reads_ranges(store: Store, name: str) -> bool:
    try:
        part, size = store.read(name, 4, 9)
    except ArchiveAway:
        return _can_not(store)
    return bytes(part) == _BYTES[4:9] and size == len(_BYTES)


def _copies_once(store: Store, source: str, name: str) -> bool:
    try:
        return store.copy_new(source, name) and not store.copy_new(source, name)
    except ArchiveAway:
        return _can_not(store)


def _can_not(store: Store) -> bool:
    """Return False: the store can't do what was tried; ArchiveAway if it does not answer anything else either."""
    store.list(FOLDER)
    return False


def _lists(store: Store, name: str) -> bool:
    listed = {stored.name: stored for stored in store.list(FOLDER)}
    mine = listed.get(name)
    if mine is None:
        return False
    for stored in listed.values():
        if mine.changed_at - stored.changed_at > _LEFT_BEHIND:
            store.delete(stored.name)
    return True
