"""Backups in a bucket: each object is an object there."""

from __future__ import annotations

from collections.abc import Iterator

from rehi.engines.bucket.store import Store
from rehi.errors import NotFound, RecordMissing, SettingsError

_LARGEST = 256 << 20  # bytes that are read of an object; the largest that is written has less


class BucketBackups:
    """Port ``BackupStore`` on a bucket and a prefix in it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.write, self.create, self.delete = store.write, store.create, store.delete

    @property
    def where(self) -> str:
        """The bucket's address."""
        return self._store.uri

    def read(self, name: str) -> bytes:
        """Return an object's bytes."""
        try:
            return bytes(self._store.read(name, 0, _LARGEST)[0])
        except RecordMissing as error:
            raise NotFound(f"there is no {name} in {self._store.uri}") from error

    def list(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield the objects below a folder."""
        for stored in self._store.walk(folder):
            yield stored.name, stored.size

    def sync(self) -> None:
        """Do nothing: what the store has acknowledged is there."""


def open_backups(uri: str, *, endpoint: str = "", region: str = "") -> BucketBackups:
    """Return the backups in ``s3://bucket/prefix``."""
    try:
        return BucketBackups(Store(uri, endpoint=endpoint, region=region))
    except SettingsError as error:
        raise SettingsError(f"{uri!r} is no place for backups: it must be a folder or s3://bucket/prefix") from error
