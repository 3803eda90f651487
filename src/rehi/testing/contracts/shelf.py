"""The contract of the shelf: what every place for append-only files does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from rehi.errors import ArchiveError, RecordMissing
from rehi.model.version import RecordRef
from rehi.ports import Shelf


class ShelfContract:
    """Subclass it, and give it a fixture ``open_shelf``: a function that opens the same empty place.

    It is called again and again, each time as from another process.
    """

    @pytest.fixture
    def shelf(self, open_shelf: Callable[[], Shelf]) -> Shelf:
        """Return the shelf, opened once."""
        return open_shelf()

    def test_an_empty_shelf_has_no_files(self, shelf: Shelf) -> None:
        assert list(shelf.files()) == []
        shelf.sync()

    def test_what_was_appended_comes_back(self, shelf: Shelf) -> None:
        first = shelf.append("a.bin", [b"one", b"", b"two"])
        second = shelf.append("a.bin", [b"three"])
        assert (first, second) == (RecordRef("a.bin", 0, 6), RecordRef("a.bin", 6, 5))
        assert _read(shelf, first) == b"onetwo"
        assert _read(shelf, second) == b"three"

    def test_a_range_is_read_in_small_pieces_and_ends_where_it_ends(self, shelf: Shelf) -> None:
        shelf.append("a.bin", [b"0123456789"])
        with shelf.open(RecordRef("a.bin", 2, 5)) as stream:
            assert [stream.read(2), stream.read(2), stream.read(2), stream.read(2)] == [b"23", b"45", b"6", b""]

    def test_files_are_listed_by_name_with_their_sizes(self, shelf: Shelf) -> None:
        shelf.append("b.bin", [b"12"])
        shelf.append("a.bin", [b"123"])
        assert list(shelf.files()) == [("a.bin", 3), ("b.bin", 2)]

    def test_another_process_sees_what_was_synced_and_goes_on_after_it(
        self, shelf: Shelf, open_shelf: Callable[[], Shelf]
    ) -> None:
        first = shelf.append("a.bin", [b"first"])
        shelf.sync()
        other = open_shelf()
        assert _read(other, first) == b"first"
        assert other.append("a.bin", [b"second"]).offset == first.end

    def test_more_files_can_be_written_than_are_kept_open(self, shelf: Shelf) -> None:
        names = [f"{number:03}.bin" for number in range(40)]
        refs = [shelf.append(name, [name.encode()]) for name in names]
        shelf.sync()
        refs += [shelf.append(name, [b"!"]) for name in names]
        shelf.sync()
        assert [_read(shelf, ref) for ref in refs] == [name.encode() for name in names] + [b"!"] * 40

    def test_a_record_that_fails_on_its_way_leaves_no_trace(self, shelf: Shelf) -> None:
        def broken() -> Iterator[bytes]:
            yield b"half"
            raise ConnectionError("the other half never came")

        before = shelf.append("a.bin", [b"whole"])
        with pytest.raises(ConnectionError):
            shelf.append("a.bin", broken())
        after = shelf.append("a.bin", [b"next"])
        assert after.offset == before.end
        assert list(shelf.files()) == [("a.bin", 9)]

    @pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "../a", "a\x00b", "a b", "ä", "x" * 300])
    def test_a_name_that_could_lead_elsewhere_is_refused(self, shelf: Shelf, name: str) -> None:
        with pytest.raises(ArchiveError):
            shelf.append(name, [b"x"])
        with pytest.raises(RecordMissing):
            shelf.open(RecordRef(name, 0, 1))
        assert list(shelf.files()) == []

    def test_a_missing_record_is_said_to_be_missing(self, shelf: Shelf) -> None:
        ref = shelf.append("a.bin", [b"12345"])
        for lost in (RecordRef("b.bin", 0, 1), RecordRef("a.bin", 3, 3), RecordRef("a.bin", -1, 2)):
            with pytest.raises(RecordMissing):
                shelf.open(lost)
        assert _read(shelf, ref) == b"12345"

    def test_a_tail_set_aside_ends_the_file_there(self, shelf: Shelf, open_shelf: Callable[[], Shelf]) -> None:
        whole = shelf.append("a.bin", [b"whole"])
        torn = shelf.append("a.bin", [b"torn"])
        shelf.set_aside("a.bin", whole.end)
        assert list(shelf.files()) == [("a.bin", 5)]
        with pytest.raises(RecordMissing):
            shelf.open(torn)
        assert shelf.append("a.bin", [b"next"]).offset == whole.end
        shelf.sync()
        assert _read(open_shelf(), RecordRef("a.bin", 0, 9)) == b"wholenext"

    def test_setting_aside_nothing_changes_nothing(self, shelf: Shelf) -> None:
        shelf.append("a.bin", [b"whole"])
        shelf.set_aside("a.bin", 5)
        shelf.set_aside("a.bin", 50)
        shelf.set_aside("b.bin", 0)
        assert list(shelf.files()) == [("a.bin", 5)]

    def test_a_file_is_there_when_it_was_begun(self, shelf: Shelf, open_shelf: Callable[[], Shelf]) -> None:
        assert not shelf.has("a.bin")
        shelf.append("a.bin", [b"1"])
        shelf.sync()
        assert shelf.has("a.bin")
        assert open_shelf().has("a.bin")
        assert not shelf.has("b.bin")
        assert not shelf.has("../a.bin")

    def test_a_sealed_file_is_read_as_before(self, shelf: Shelf, open_shelf: Callable[[], Shelf]) -> None:
        refs = [shelf.append("a.bin", [text]) for text in (b"one", b"two")]
        shelf.append("b.bin", [b"open"])
        shelf.seal("a.bin")
        shelf.seal("a.bin")
        for seen in (shelf, open_shelf()):
            assert [_read(seen, ref) for ref in refs] == [b"one", b"two"]
            assert seen.has("a.bin")
        assert list(shelf.files()) == [("a.bin", 6), ("b.bin", 4)]
        assert shelf.append("b.bin", [b"!"]).offset == 4

    def test_sealing_what_is_not_there_changes_nothing(self, shelf: Shelf) -> None:
        shelf.seal("a.bin")
        assert list(shelf.files()) == []

    def test_a_file_that_is_put_is_whole_at_once_and_replaces_another(
        self, shelf: Shelf, open_shelf: Callable[[], Shelf]
    ) -> None:
        shelf.put("a.txt", [b"first ", b"", b"one"])
        assert _read(open_shelf(), RecordRef("a.txt", 0, 9)) == b"first one"
        shelf.put("a.txt", iter([b"second"]))
        assert list(shelf.files()) == list(open_shelf().files()) == [("a.txt", 6)]
        assert _read(shelf, RecordRef("a.txt", 0, 6)) == b"second"
        shelf.put("empty.txt", [])
        assert list(shelf.files()) == [("a.txt", 6), ("empty.txt", 0)]

    def test_a_file_that_fails_on_its_way_leaves_the_one_before(self, shelf: Shelf) -> None:
        def broken() -> Iterator[bytes]:
            yield b"half"
            raise RecordMissing("the other half is gone")

        shelf.put("a.txt", [b"whole"])
        for name in ("a.txt", "b.txt"):
            with pytest.raises(RecordMissing):
                shelf.put(name, broken())
        assert list(shelf.files()) == [("a.txt", 5)]
        assert _read(shelf, RecordRef("a.txt", 0, 5)) == b"whole"

    def test_a_removed_file_is_gone_and_its_name_is_free(self, shelf: Shelf, open_shelf: Callable[[], Shelf]) -> None:
        ref = shelf.append("a.bin", [b"one"])
        shelf.seal("a.bin")
        shelf.put("b.txt", [b"two"])
        with shelf.open(ref) as stream:
            for name in ("a.bin", "b.txt", "c.bin"):
                shelf.remove(name)
            assert stream.read() == b"one"
        for seen in (shelf, open_shelf()):
            assert list(seen.files()) == []
            assert not seen.has("a.bin")
            with pytest.raises(RecordMissing):
                seen.open(ref)
        assert shelf.append("a.bin", [b"anew"]).offset == 0

    @pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b", "../a", "ä"])
    def test_no_file_elsewhere_is_put_or_removed(self, shelf: Shelf, name: str) -> None:
        with pytest.raises(ArchiveError):
            shelf.put(name, [b"x"])
        with pytest.raises(ArchiveError):
            shelf.remove(name)
        assert list(shelf.files()) == []

    def test_threads_that_write_and_read_at_once_do_not_disturb_each_other(self, shelf: Shelf) -> None:
        wrong: list[object] = []

        def work(number: int) -> None:
            content = bytes([number]) * (1_000 + number)
            for _ in range(20):
                ref = shelf.append("a.bin", [content[:10], content[10:]])
                if _read(shelf, ref) != content:
                    wrong.append(ref)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert list(shelf.files()) == [("a.bin", sum(20 * (1_000 + number) for number in range(8)))]


def _read(shelf: Shelf, ref: RecordRef) -> bytes:
    with shelf.open(ref) as stream:
        return stream.read()
