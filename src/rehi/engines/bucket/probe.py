"""The probe: what a bucket's server can do, found out by trying."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from rehi.engines.bucket.store import Store
from rehi.errors import EngineError, StoreUnreachable

_FOLDER = ".probe"
_FORGOTTEN = timedelta(hours=1)  # what a probe has left that was killed
_BYTES = b"0123456789abcdef"


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a bucket's server can do."""

    conditional_put: bool  # refuses to write over an object
    conditional_copy: bool  # and so when it copies one, as is done with large files
    lists_at_once: bool  # a new object is in the next list

    def describe(self) -> str:
        """One line for people."""
        good = ["reads ranges"]
        bad: list[str] = []
        (good if self.conditional_put else bad).append("conditional put")
        (good if self.conditional_copy else bad).append("conditional copy")
        (good if self.lists_at_once else bad).append("lists new objects at once")
        line = ", ".join(good)
        if not bad:
            return line
        return f"{line}; without {', '.join(bad)}: give each data folder a prefix of its own"


def probe(store: Store) -> Abilities:
    """Try it all on two small objects; EngineError if the bucket can't be used."""
    first, second = (f"{_FOLDER}/{secrets.token_hex(8)}" for _ in range(2))
    try:
        store.list(_FOLDER)  # says of a bucket that is not there, or not ours, just that
        return _try(store, first, second)
    except StoreUnreachable as error:
        raise EngineError(f"{error}; look at archive.uri, archive.endpoint and the credentials") from error


def _try(store: Store, first: str, second: str) -> Abilities:
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
            with suppress(StoreUnreachable):
                store.delete(name)
    return Abilities(conditional_put=conditional, conditional_copy=copies, lists_at_once=lists)


def _creates_once(store: Store, name: str) -> bool:
    try:
        store.create(name, _BYTES)
        return not store.create(name, _BYTES)
    except StoreUnreachable:
        store.write(name, _BYTES)
        return False


def _reads_ranges(store: Store, name: str) -> bool:
    try:
        part, size = store.read(name, 4, 9)
    except StoreUnreachable:
        return False
    return bytes(part) == _BYTES[4:9] and size == len(_BYTES)


def _copies_once(store: Store, source: str, name: str) -> bool:
    try:
        return store.copy_new(source, name) and not store.copy_new(source, name)
    except StoreUnreachable:
        return False


def _lists(store: Store, name: str) -> bool:
    listed = {found.name: found for found in store.list(_FOLDER)}
    mine = listed.get(name)
    if mine is None:
        return False
    for other, found in listed.items():
        if mine.changed_at - found.changed_at > _FORGOTTEN:
            store.delete(other)
    return True
