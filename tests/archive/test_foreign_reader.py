"""Files of crawls made elsewhere are read whole, however they are packed, and as far as possible when they are damaged."""

from __future__ import annotations

import gzip
import os
import random
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from rehi.archive.foreign import Damage, ForeignRecord, open_foreign
from rehi.errors import RecordDamaged, SourceError
from tests.warcs import (
    arc,
    frames,
    frames_with_dictionary,
    http,
    members,
    record,
    request,
    response,
    sha1,
)

CORPUS = Path(os.environ.get("REHI_CORPORA", Path(__file__).parents[3] / "shared" / "corpora")) / "02-warc"
URLS = [f"http://a.ee/{n}" for n in range(5)]
RECORDS = [record("warcinfo", block=b"software: x\r\n"), *(response(url, url.encode() * 50) for url in URLS)]
WAYS: dict[str, Callable[[list[bytes]], bytes]] = {
    "plain": b"".join,
    "a gzip member for each": members,
    "one gzip member": lambda records: gzip.compress(b"".join(records), mtime=0),
    "gzip members that cut records": lambda records: b"".join(
        gzip.compress(b"".join(records)[at : at + 100], mtime=0) for at in range(0, len(b"".join(records)), 100)
    ),
    "members with padding between": lambda records: b"\0\0\0".join(gzip.compress(one, mtime=0) for one in records),
    "a zstd frame for each": frames,
    "one zstd frame": lambda records: frames([b"".join(records)]),
    "zstd frames with a dictionary": frames_with_dictionary,
    "zstd frames with a compressed dictionary": lambda records: frames_with_dictionary(records, packed=True),
}


def read(path: Path, start: int = 0) -> tuple[list[tuple[int, str, str, bytes]], list[Damage]]:
    """Each whole record's place, kind, URL and block, and what is damaged."""
    found: list[tuple[ForeignRecord, bytes]] = []
    damages = []
    file = open_foreign(path)
    for item in file.records(start):
        if isinstance(item, Damage):
            damages.append(item)
            continue
        block = b""
        try:
            while chunk := item.block.read():
                block += chunk
        except RecordDamaged:
            item.spoiled = True
        found.append((item, block))
    file.close()
    return [(one.at, one.fields.kind, one.fields.url, block) for one, block in found if not one.spoiled], damages


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_packing_gives_the_same_records(path: Path, way: Callable[[list[bytes]], bytes]) -> None:
    path.write_bytes(way(RECORDS))
    found, damages = read(path)
    assert damages == []
    assert [kind for _, kind, _, _ in found] == ["warcinfo"] + ["response"] * 5
    assert [(url, block) for _, _, url, block in found[1:]] == [(url, http(url.encode() * 50)) for url in URLS]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_reading_goes_on_at_any_record(path: Path, way: Callable[[list[bytes]], bytes]) -> None:
    path.write_bytes(way(RECORDS))
    whole, _ = read(path)
    for place, (at, *_) in enumerate(whole):
        assert read(path, at)[0] == whole[place:]


def test_reading_goes_on_behind_damage_in_a_file_that_was_packed_as_a_whole(path: Path) -> None:
    path.write_bytes(WAYS["gzip members that cut records"](RECORDS))
    damaged = bytearray(path.read_bytes())
    damaged[1000:1010] = bytes(10)
    path.write_bytes(damaged)
    whole, damages = read(path)
    assert ([url for _, _, url, _ in whole[-3:]], bool(damages)) == (URLS[2:], True)
    for place, (at, *_) in enumerate(whole):
        assert read(path, at)[0] == whole[place:]


def test_the_record_in_the_line_after_a_damaged_one_is_read(path: Path) -> None:
    header, one, two = arc((URLS[0], http(b"one")), (URLS[1], http(b"two")))
    path.write_bytes(header + b"no record\n" + one + two)
    records, damages = read(path)
    assert [url for _, _, url, _ in records[1:]] == URLS[:2]
    assert [damage.at for damage in damages] == [len(header)]


@pytest.mark.parametrize("version", ["0.17", "0.18", "1.0", "1.1"])
def test_every_version_of_warc_is_understood(path: Path, version: str) -> None:
    path.write_bytes(members([response(URLS[0], version=version)]))
    (found,), damages = read(path)
    assert (found[1:3], damages) == (("response", URLS[0]), [])


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("pack", [b"".join, members], ids=["plain", "gzip"])
def test_arc_is_understood(path: Path, version: int, pack: Callable[[list[bytes]], bytes]) -> None:
    path.write_bytes(pack(arc((URLS[0], http(b"one")), ("http://a.ee/with blanks", http(b"two")), version=version)))
    found, damages = read(path)
    assert damages == []
    assert [one[1:] for one in found[1:]] == [
        ("response", URLS[0], http(b"one")),
        ("response", "http://a.ee/with blanks", http(b"two")),
    ]


def test_a_record_that_is_all_of_its_member_can_be_referred_to(path: Path) -> None:
    packed = [members([one]) for one in RECORDS]
    path.write_bytes(b"".join(packed))
    file = open_foreign(path)
    found = [one for one in file.records() if isinstance(one, ForeignRecord)]
    assert [one.member for one in found] == [
        (sum(map(len, packed[:place])), len(member)) for place, member in enumerate(packed)
    ]
    file.close()


@pytest.mark.parametrize("pack", [b"".join, frames, lambda r: gzip.compress(b"".join(r))], ids=["plain", "zstd", "one"])
def test_no_other_record_can_be_referred_to(path: Path, pack: Callable[[list[bytes]], bytes]) -> None:
    path.write_bytes(pack(RECORDS))
    file = open_foreign(path)
    assert {one.member for one in file.records() if isinstance(one, ForeignRecord)} == {None}
    file.close()


@pytest.mark.parametrize("way", ["plain", "a gzip member for each", "a zstd frame for each"])
def test_what_follows_damaged_bytes_is_read_and_the_place_is_said(path: Path, way: str) -> None:
    path.write_bytes(WAYS[way](RECORDS))
    whole, _ = read(path)
    damaged = bytearray(path.read_bytes())
    start, end = whole[2][0], whole[3][0]
    damaged[start + 5 : end - 5] = bytes(end - start - 10)
    path.write_bytes(damaged)
    found, damages = read(path)
    assert [one[2] for one in found] == [one[2] for one in whole if one is not whole[2]]
    assert [damage.at for damage in damages] == [start]


@pytest.mark.parametrize("way", [name for name in WAYS if "one zstd" not in name])
def test_a_file_that_ends_too_early_gives_what_it_holds(path: Path, way: str) -> None:
    path.write_bytes(WAYS[way](RECORDS))
    whole, _ = read(path)
    path.write_bytes(path.read_bytes()[:-40])
    found, damages = read(path)
    lost = 3 if way.startswith("one") else 1  # of what is packed as a whole, more hangs together
    assert [one[2] for one in found] == [one[2] for one in whole[: len(found)]]
    assert (len(whole) - lost <= len(found) < len(whole), bool(damages)) == (True, True)


@pytest.mark.parametrize("change", ["digest", "length"])
def test_a_record_that_is_not_what_it_says_is_not_given_out(path: Path, change: str) -> None:
    block = http(b"<p>Tere")
    said = {"WARC_Block_Digest": sha1(block if change == "length" else b"?"), "WARC_Payload_Digest": ""}
    bad = record("response", URLS[0], block, **said)
    if change == "length":
        bad = bad.replace(f"Content-Length: {len(block)}".encode(), f"Content-Length: {len(block) - 3}".encode())
    path.write_bytes(bad + response(URLS[1]))
    found, damages = read(path)
    assert [one[2] for one in found] == [URLS[1]]
    assert damages[0].at == 0 if change == "digest" else damages


@pytest.mark.parametrize("length", ["", "-1", "abc", "9" * 30, "99999999999"])
def test_an_impossible_length_spoils_only_its_record(path: Path, length: str) -> None:
    path.write_bytes(members([record("response", URLS[0], http(), Content_Length=length), response(URLS[1])]))
    found, damages = read(path)
    assert ([one[2] for one in found], [damage.at for damage in damages]) == ([URLS[1]], [0])


def test_a_file_that_is_no_archive_holds_nothing(path: Path) -> None:
    path.write_bytes(os.urandom(100_000))
    assert read(path)[0] == []
    path.write_bytes(b"\x5d\x2a\x4d\x18\xff\xff\xff\x7f")
    with pytest.raises(SourceError, match="dictionary"):
        open_foreign(path)


def test_a_bomb_costs_no_memory(path: Path) -> None:
    packed = gzip.compress(record("metadata", "", bytes(100_000_000)), 1)
    path.write_bytes(packed + members([response(URLS[0])]))
    del packed
    tracemalloc.start()
    file = open_foreign(path)
    found = [isinstance(item, ForeignRecord) for item in file.records()]
    file.close()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found, peak < 8_000_000) == ([True, True], True)


def test_line_ends_without_end_take_no_time(path: Path) -> None:
    path.write_bytes(gzip.compress(RECORDS[0] + b"\n" * 50_000_000 + RECORDS[1], 1))
    assert len(read(path)[0]) == 2


def test_whatever_is_done_to_a_file_it_is_read_to_its_end(path: Path) -> None:
    chance = random.Random(4)
    seeds = [way([*RECORDS, request(URLS[0])]) for way in WAYS.values()] + [b"".join(arc((URLS[0], http())))]
    for _ in range(400):
        content = bytearray(chance.choice(seeds))
        for _ in range(chance.choice([1, 2, 10])):
            at = chance.randrange(len(content) + 1)
            match chance.randrange(4):
                case 0:
                    content[at : at + 1] = bytes([chance.randrange(256)])
                case 1:
                    del content[at : at + chance.randrange(100)]
                case 2:
                    content[at:at] = chance.randbytes(chance.randrange(50))
                case _:
                    content += chance.choice(seeds)[at:]
        path.write_bytes(content)
        try:
            file = open_foreign(path)
        except SourceError:
            continue
        for item in file.records():
            if isinstance(item, ForeignRecord) and item.fields.kind == "response":
                try:
                    for _ in item.open_message().payload():
                        pass
                except RecordDamaged:
                    pass
        file.close()


def counted_by_warcio(content: bytes) -> Counter[str]:
    from io import BytesIO

    from warcio.archiveiterator import ArchiveIterator

    return Counter(item.rec_type for item in ArchiveIterator(BytesIO(content)))


# Warcio refuses these three, since their members hold several records; unpacked, it reads them.
UNPACKED = {"example-bad-non-chunked.warc.gz", "example-bad.warc.gz.bad", "example-wrong-chunks.warc.gz"}


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no real files at {CORPUS}; REHI_CORPORA names another place")
def test_the_counts_of_all_real_files_agree_with_those_of_warcio(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(path for path in CORPUS.rglob("*arc*") if path.is_file())
    assert len(files) > 15
    for path in files:
        content = path.read_bytes()
        theirs = counted_by_warcio(gzip.decompress(content) if path.name in UNPACKED else content)
        file = open_foreign(path)
        ours = Counter(item.fields.kind for item in file.records() if isinstance(item, ForeignRecord))
        file.close()
        assert ours == theirs, path.name
