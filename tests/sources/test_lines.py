"""Tests of the lines of a file."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

from rehi.errors import SourceError
from rehi.sources.lines import MAX_LINE, open_lines
from rehi.zstd import zstd_module

LINES = [f"line {number} {'x' * (number % 97)}".encode() for number in range(50_000)]


PACKED = {"gzip": gzip.compress, "zstd": zstd_module().compress}
packings = pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
Pack = Callable[[bytes], bytes]


def contents(path: Path) -> list[bytes]:
    with open_lines(path) as lines:
        return list(lines)


def test_a_plain_file_gives_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_bytes(b"\n".join(LINES) + b"\n")
    assert contents(file) == LINES
    file.write_bytes(b"\n".join(LINES))
    assert contents(file) == LINES, "a last line without an end is a line"
    file.write_bytes(b"a\n\n\nb\n\n")
    assert contents(file) == [b"a", b"", b"", b"b", b""]


@packings
def test_a_packed_file_is_known_by_its_first_bytes(tmp_path: Path, pack: Pack) -> None:
    file = tmp_path / "no-telling-name"
    file.write_bytes(pack(b"\n".join(LINES)))
    assert contents(file) == LINES
    file = tmp_path / "a.gz"
    file.write_bytes(b"not packed\n")
    assert contents(file) == [b"not packed"]


@packings
def test_all_members_of_a_packed_file_are_read(tmp_path: Path, pack: Pack) -> None:
    text = b"\n".join(LINES)
    file = tmp_path / "a.log.gz"
    file.write_bytes(pack(text[:1000]) + pack(b"") + pack(text[1000:]) + b"\0" * 3_000_000)
    assert contents(file) == LINES


def test_a_zstd_file_may_begin_with_a_frame_to_skip(tmp_path: Path) -> None:
    file = tmp_path / "a.log.zst"
    frame = PACKED["zstd"](b"\n".join(LINES))
    file.write_bytes(b"\x50\x2a\x4d\x18\x04\0\0\0" + len(frame).to_bytes(4, "little") + frame)
    assert contents(file) == LINES


@packings
def test_a_torn_file_gives_its_lines_up_to_there(tmp_path: Path, pack: Pack) -> None:
    whole = pack(os.urandom(600_000).hex().encode().replace(b"0", b"\n"))
    file = tmp_path / "a.log.gz"
    file.write_bytes(whole)
    lines_of_it = contents(file)
    file.write_bytes(whole[: len(whole) // 2])
    found: list[bytes] = []
    with open_lines(file) as lines, pytest.raises(SourceError, match="ends in the middle"):
        found.extend(lines)
    assert len(found) > 1000
    assert found == lines_of_it[: len(found)]


@packings
def test_a_damaged_file_says_so(tmp_path: Path, pack: Pack) -> None:
    whole = bytearray(pack(b"\n".join(LINES)))
    whole[len(whole) // 2 : len(whole) // 2 + 50] = b"\xff" * 50
    file = tmp_path / "a.log.gz"
    file.write_bytes(whole)
    with pytest.raises(SourceError, match="is damaged"):
        contents(file)
    file.write_bytes(pack(b"a\nb\n") + b"and then this")
    with open_lines(file) as lines:
        one_by_one = iter(lines)
        assert next(one_by_one) == b"a"
        assert next(one_by_one) == b"b"
        with pytest.raises(SourceError, match="is damaged"):
            next(one_by_one)


def test_progress_is_counted_in_bytes_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.log.gz"
    file.write_bytes(gzip.compress(os.urandom(3_000_000).hex().encode().replace(b"0", b"\n")))
    with open_lines(file) as lines:
        assert (lines.content.bytes_read, lines.content.size) == (0, file.stat().st_size)
        one_by_one = iter(lines)
        next(one_by_one)
        assert 0 < lines.content.bytes_read < lines.content.size
        assert sum(1 for _ in one_by_one)
        assert lines.content.bytes_read == lines.content.size


@packings
def test_neither_endless_lines_nor_packed_zeros_fill_the_memory(tmp_path: Path, pack: Pack) -> None:
    file = tmp_path / "bomb.gz"
    file.write_bytes(pack(b"a" * 1_000_000) * 100 + pack(b"\nafter\n"))
    tracemalloc.start()
    try:
        first, after = contents(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(first) > MAX_LINE
    assert after == b"after"
    assert peak < 10_000_000


@packings
def test_a_file_that_is_one_endless_line_is_given_up(tmp_path: Path, pack: Pack) -> None:
    file = tmp_path / "bomb.gz"
    file.write_bytes(pack(b"a" * 30_000_000) * 10 + pack(b"\n"))
    with pytest.raises(SourceError, match="has a line of more than 256 MB"):
        contents(file)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "there is no file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: os.mkfifo(path), "is a device or a pipe"),
    ],
)
def test_what_is_no_file_gets_one_sentence(tmp_path: Path, make: object, sentence: str) -> None:
    assert callable(make)
    path = tmp_path / "x.log"
    make(path)
    with pytest.raises(SourceError, match=sentence):
        contents(path)


def test_a_name_that_can_not_be_gets_one_sentence() -> None:
    with pytest.raises(SourceError, match="can't be the name"):
        contents(Path("a\0b"))
    with pytest.raises(SourceError, match="can't be opened"):
        contents(Path("a" * 5000))


def test_a_file_that_may_not_be_read_gets_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    file.write_bytes(b"a\n")
    file.chmod(0)
    me = os.geteuid()
    if me == 0:  # nothing is forbidden to root
        os.seteuid(65534)
    try:
        with pytest.raises(SourceError, match="you may not read it"):
            contents(file)
    finally:
        os.seteuid(me)


@packings
def test_a_file_that_is_packed_too_well_is_given_up_and_an_honest_one_is_not(
    tmp_path: Path, pack: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rehi.sources.unpacked._MOST_UNPACKED", 1 << 21)
    bomb, honest = tmp_path / "bomb.gz", tmp_path / "honest.gz"
    bomb.write_bytes(pack(b"http://a.test/\n" * 300_000))
    honest.write_bytes(pack(b"".join(b"http://a.test/%d\n" % number for number in range(200_000))))
    before: deque[bytes] = deque()
    with open_lines(bomb) as lines, pytest.raises(SourceError, match="unpacks to more than 100 times its size"):
        before.extend(lines)
    assert 100_000 < len(before) <= (1 << 21) / len(b"http://a.test/\n")
    assert len(contents(honest)) == 200_000
