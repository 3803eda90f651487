"""Compaction: what was dropped goes, all else stays readable by its old place, wherever it breaks off."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from rehi.archive import Archive
from rehi.archive.chain import read_chain_link
from rehi.archive.moves import FollowingShelf
from rehi.engines.folder import FolderShelf
from rehi.errors import RecordDamaged, RecordMissing
from rehi.model.version import RecordRef
from rehi.model.visit import Visit
from tests.archive.conftest import NOON

PAGE = "".join(f"<li>{number} {random.Random(number).getrandbits(80):x}</li>\n" for number in range(400)).encode()
FILE = 6_000  # bytes, so that one history lies in several files


class BreakingShelf(FolderShelf):
    """A shelf under which the power fails after so many changes of its files."""

    left = 10**9

    def put(self, file: str, chunks: Iterable[bytes]) -> None:
        self._count()
        super().put(file, chunks)

    def remove(self, file: str) -> None:
        self._count()
        super().remove(file)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


@pytest.fixture
def history(
    open_archive: Callable[..., Archive], make_visit: Callable[..., Visit], folder: Path
) -> tuple[Archive, list[tuple[RecordRef, bytes]]]:
    """Two pages with 24 versions each, in files that are sealed but for the last."""
    archive = open_archive(shelf=BreakingShelf(folder), file_bytes=FILE)
    refs: list[tuple[RecordRef, bytes]] = []
    for page in range(2):
        body, last = PAGE + bytes([65 + page]), None
        for number in range(24):
            body = (
                body[: number * 40]
                + f"<b>{random.Random(number).getrandbits(900):x}</b>".encode()
                + body[number * 40 :]
            )
            visit = make_visit(url=f"http://www.rehemaa.test/{page}", body=body)
            last = archive.keep(visit) if last is None else archive.keep_change(visit, base=last)
            refs.append((last, body))
    archive.sync()
    for file, size in archive.unsealed():
        archive.seal(file, size)
    return archive, refs


def _compact(archive: Archive, dropped: list[RecordRef], *, at_once: bool = True) -> Any:
    return archive.compact(archive.plan_compaction(dropped, at_once=at_once), worker="w1", now=NOON)


def _stored(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.warc.gz"))


def test_what_was_dropped_goes_and_all_else_is_read_by_its_old_place(
    history: tuple[Archive, list[tuple[RecordRef, bytes]]],
    folder: Path,
    open_archive: Callable[..., Archive],
    read_files: Callable[[], list[Any]],
) -> None:
    archive, refs = history
    dropped, kept = [ref for ref, _ in refs[:20]], refs[20:]
    before, reader = _stored(folder), open_archive()
    done = _compact(archive, dropped)
    assert (done.bodies, done.waiting) == (20, 0)
    assert done.rebased >= 1
    assert _stored(folder) < before
    for archived in (archive, reader, open_archive()):
        assert [archived.open_body(ref).read() for ref, _ in kept] == [body for _, body in kept]
        with pytest.raises(RecordMissing):
            archived.open_body(dropped[0])
    headers = reader.read_headers(dropped[3])
    assert headers.fields.get("Rehi-Body") == "dropped"
    assert headers.http is not None
    assert headers.http.header("content-type") == "text/html; charset=utf-8"
    assert read_files()  # warcio's checker has passed every file
    assert archive.plan_compaction(dropped, at_once=True).files == ()


def test_a_second_compaction_leads_from_move_to_move(
    history: tuple[Archive, list[tuple[RecordRef, bytes]]], open_archive: Callable[..., Archive], folder: Path
) -> None:
    archive, refs = history
    for dropped in (refs[:6], refs[6:14], refs[24:30]):
        _compact(archive, [ref for ref, _ in dropped])
    kept = refs[14:24] + refs[30:]
    assert [open_archive().open_body(ref).read() for ref, _ in kept] == [body for _, body in kept]
    assert list(folder.glob("*-c2.warc.gz")) or list(folder.glob("*-c3.warc.gz"))


def test_new_versions_go_on_after_a_compaction(
    history: tuple[Archive, list[tuple[RecordRef, bytes]]], make_visit: Callable[..., Visit]
) -> None:
    archive, refs = history
    _compact(archive, [ref for ref, _ in refs[:23]])
    ref, body = refs[23]
    for number in range(6):
        body += f"<i>{number}</i>".encode()
        ref = archive.keep_change(make_visit(url="http://www.rehemaa.test/0", body=body), base=ref)
        assert archive.open_body(ref).read() == body


def test_while_somebody_writes_a_body_on_which_something_stood_goes_only_the_next_time(
    history: tuple[Archive, list[tuple[RecordRef, bytes]]],
) -> None:
    archive, refs = history
    dropped, kept = [ref for ref, _ in refs[:20]], refs[20:]
    first = _compact(archive, dropped, at_once=False)
    assert first.waiting > 0
    assert first.rebased > 0
    second = _compact(archive, dropped, at_once=False)
    assert (first.bodies + second.bodies, second.waiting) == (20, 0)
    assert [archive.open_body(ref).read() for ref, _ in kept] == [body for _, body in kept]


def test_what_an_open_file_stands_on_stays(
    history: tuple[Archive, list[tuple[RecordRef, bytes]]], shelf: FolderShelf
) -> None:
    archive, refs = history
    newest = refs[-1][0]
    assert read_chain_link(shelf, newest).is_delta
    done = _compact(archive, [ref for ref, _ in refs[24:-1]])
    assert done.waiting > 0
    assert archive.open_body(newest).read() == refs[-1][1]


@pytest.mark.parametrize("steps", range(14))
def test_wherever_it_breaks_off_nothing_is_lost_and_the_next_one_finishes(
    history: tuple[Archive, list[tuple[RecordRef, bytes]]],
    folder: Path,
    open_archive: Callable[..., Archive],
    steps: int,
) -> None:
    archive, refs = history
    dropped, kept = [ref for ref, _ in refs[:20]], refs[20:]
    shelf = BreakingShelf(folder)
    shelf.left = steps
    broken = open_archive(shelf=shelf)
    plan = broken.plan_compaction(dropped, at_once=True)
    with pytest.raises(KeyboardInterrupt):
        broken.compact(plan, worker="w1", now=NOON)
    for archived in (archive, open_archive()):
        assert [archived.open_body(ref).read() for ref, _ in kept] == [body for _, body in kept]
    _compact(open_archive(), dropped)
    again = open_archive()
    assert [again.open_body(ref).read() for ref, _ in kept] == [body for _, body in kept]
    with pytest.raises(RecordMissing):
        again.open_body(dropped[0])
    names = {path.name for path in folder.glob("*.warc.gz")}
    assert not {ref.file for ref in dropped} & names


def test_a_damaged_file_is_named_and_nothing_happens(
    history: tuple[Archive, list[tuple[RecordRef, bytes]]], folder: Path
) -> None:
    archive, refs = history
    path = folder / refs[0][0].file
    raw = bytearray(path.read_bytes())
    raw[refs[0][0].offset + 50] ^= 1
    path.write_bytes(raw)
    plan = archive.plan_compaction([ref for ref, _ in refs[2:20]], at_once=True)
    with pytest.raises(RecordDamaged, match=path.name):
        archive.compact(plan, worker="w1", now=NOON)
    assert not list(folder.glob("moves-*"))
    assert archive.open_body(refs[40][0]).read() == refs[40][1]


def test_moves_that_can_t_be_understood_are_named(folder: Path, shelf: FolderShelf) -> None:
    shelf.put("moves-00001-w1.txt", [b"file a.warc.gz\n12 here\n"])
    with pytest.raises(RecordDamaged, match=r"moves-00001-w1\.txt"):
        FollowingShelf(shelf).open(RecordRef("a.warc.gz", 12, 5))
