"""The contract of a place for backups: what every one of them does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from rehi.errors import NotFound
from rehi.ports import BackupStore


class BackupStoreContract:
    """Subclass it, and give it a fixture ``store``, an empty one each time."""

    def test_what_was_written_is_read_and_listed(self, store: BackupStore) -> None:
        assert list(store.list("")) == []
        store.write("chunks/ab/one", b"1" * 5_000_000)
        store.write("chunks/cd/two", b"22")
        store.write("other.json", b"333")
        store.sync()
        assert store.read("chunks/ab/one") == b"1" * 5_000_000
        assert sorted(store.list("chunks")) == [("chunks/ab/one", 5_000_000), ("chunks/cd/two", 2)]
        assert sorted(name for name, _ in store.list("")) == ["chunks/ab/one", "chunks/cd/two", "other.json"]
        assert list(store.list("nothing")) == []

    def test_an_object_is_replaced_and_deleted(self, store: BackupStore) -> None:
        store.write("a/b", b"before")
        store.write("a/b", b"after")
        assert store.read("a/b") == b"after"
        store.delete("a/b")
        store.delete("a/b")
        with pytest.raises(NotFound):
            store.read("a/b")

    def test_of_several_who_create_an_object_one_does(self, store: BackupStore) -> None:
        def create(number: int) -> bool:
            return store.create("backups/1.json", b"%d" % number)

        with ThreadPoolExecutor(4) as pool:
            created = list(pool.map(create, range(4)))
        assert created.count(True) == 1
        assert store.read("backups/1.json") == b"%d" % created.index(True)
