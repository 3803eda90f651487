"""Versions as deltas: small, byte-exact, and named when something that they stand on is gone."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.archive import Archive, KeptVisit, TornPart
from rehi.archive.chain import read_chain, read_chain_link
from rehi.archive.delta import LARGE, SPAN, base_step, decode, encode
from rehi.archive.member import pack_stored
from rehi.engines.folder import FolderShelf
from rehi.errors import RecordDamaged, RecordMissing
from rehi.model.version import RecordRef
from rehi.model.visit import Visit

PAGE = "".join(f"<li>{number} {random.Random(number).getrandbits(80):x}</li>\n" for number in range(300)).encode()


def _versions(count: int, page: bytes = PAGE) -> list[bytes]:
    """A page and its later versions, of which each has one line more."""
    made = [page]
    for number in range(1, count):
        place = (number * 7919) % len(page)
        made.append(made[-1][:place] + f"<b>{number}</b>".encode() + made[-1][place:])
    return made


@pytest.fixture
def keep_all(archive: Archive, make_visit: Callable[..., Visit]) -> Callable[..., list[RecordRef]]:
    """Keep bodies as the versions of one page, one after another."""

    def keep_all(bodies: list[bytes], **facts: Any) -> list[RecordRef]:
        refs: list[RecordRef] = []
        for body in bodies:
            visit = make_visit(body=body, **facts)
            refs.append(archive.keep_change(visit, base=refs[-1]) if refs else archive.keep(visit))
        archive.sync()
        return refs

    return keep_all


def test_versions_come_back_byte_for_byte_and_take_a_fraction_of_the_room(
    archive: Archive, shelf: FolderShelf, keep_all: Callable[..., list[RecordRef]]
) -> None:
    bodies = _versions(30)
    refs = keep_all(bodies)
    assert [archive.open_body(ref).read() for ref in refs] == bodies
    assert [read_chain_link(shelf, ref).is_delta for ref in refs] == [False] + [True] * 29
    assert sum(ref.length for ref in refs[1:]) < 29 * 600


def test_a_delta_says_all_that_was_said_in_the_visit(
    archive: Archive, make_visit: Callable[..., Visit], keep_all: Callable[..., list[RecordRef]]
) -> None:
    first, second = keep_all(_versions(2), url="http://www.rehemaa.test/küla?a=1")
    headers = archive.read_headers(second)
    assert headers.fields.url == "http://www.rehemaa.test/küla?a=1"
    assert headers.fields.get("WARC-IP-Address") == "127.0.0.1"
    assert headers.fields.base == first
    assert headers.http is not None
    assert (headers.http.status, headers.http.header("content-type")) == (200, "text/html; charset=utf-8")
    assert headers.request.startswith(b"GET /k%C3%BCla?a=1 HTTP/1.1\r\n") or headers.request.startswith(b"GET /k")
    assert b"User-Agent: rehi/test\r\n" in headers.request


def test_other_tools_read_the_file_and_pass_over_deltas(
    keep_all: Callable[..., list[RecordRef]], read_files: Callable[[], list[Any]]
) -> None:
    keep_all(_versions(4))
    records = read_files()
    assert [record.rec_type for record in records] == ["warcinfo", "request", "response", "delta", "delta", "delta"]
    assert {record.rec_headers.get_header("WARC-Target-URI") for record in records[3:]} == {"urn:rehi:delta"}


def test_no_version_is_far_from_one_that_is_whole(
    archive: Archive, shelf: FolderShelf, keep_all: Callable[..., list[RecordRef]]
) -> None:
    refs = keep_all(_versions(SPAN + 3, PAGE[:600]))
    depths = [len(read_chain(shelf, read_chain_link(shelf, ref))) - 1 for ref in refs]
    assert max(depths) == 12
    assert [number for number, depth in enumerate(depths) if depth == 0] == [0, SPAN]


def test_large_files_have_short_chains(
    archive: Archive, shelf: FolderShelf, keep_all: Callable[..., list[RecordRef]]
) -> None:
    bodies = _versions(20, random.Random(1).randbytes(LARGE))
    refs = keep_all(bodies)
    assert max(len(read_chain(shelf, read_chain_link(shelf, ref))) for ref in refs) == 3
    assert archive.open_body(refs[-1]).read() == bodies[-1]


@given(st.integers(1, SPAN - 1), st.lists(st.booleans(), min_size=SPAN, max_size=SPAN))
def test_the_base_of_the_next_step_is_always_on_the_way_back(step: int, large: list[bool]) -> None:
    way, at = {step - 1, 0}, step - 1
    while at:
        at = base_step(at, large=large[at])
        way.add(at)
    assert base_step(step, large=False) in way
    assert base_step(step, large=True) in way


@settings(max_examples=50)
@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_whatever_the_contents_are_they_come_back(base: bytes, content: bytes) -> None:
    assert decode(encode(content, base=base), base=base) == content


def test_another_base_is_noticed() -> None:
    packed = encode(PAGE + b"!", base=PAGE)
    with pytest.raises(RecordDamaged):
        decode(packed, base=PAGE[:-1] + b"?")
    with pytest.raises(RecordDamaged):
        decode(packed[:-3], base=PAGE)
    with pytest.raises(RecordDamaged):
        decode(b"no frame at all", base=PAGE)


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 200_000])
def test_what_is_stored_as_it_is_can_be_read_by_every_gzip(size: int) -> None:
    import gzip

    block = random.Random(size).randbytes(size)
    assert gzip.decompress(pack_stored(b"WARC/1.1\r\n\r\n", block)) == b"WARC/1.1\r\n\r\n" + block


def test_what_is_compressed_already_and_what_is_all_new_is_kept_whole(
    archive: Archive, shelf: FolderShelf, make_visit: Callable[..., Visit], keep_all: Callable[..., list[RecordRef]]
) -> None:
    images = keep_all(_versions(2), headers=(("Content-Type", "image/png"),))
    others = keep_all([random.Random(seed).randbytes(5_000) for seed in range(2)])
    assert [read_chain_link(shelf, ref).is_delta for ref in images + others] == [False] * 4


def test_an_exact_duplicate_of_a_delta_is_a_revisit_of_it(
    archive: Archive, make_visit: Callable[..., Visit], keep_all: Callable[..., list[RecordRef]]
) -> None:
    bodies = _versions(3)
    refs = keep_all(bodies)
    again = archive.keep_duplicate(make_visit(body=bodies[1], url="http://www.rehemaa.test/copy"), body=refs[1])
    fields = archive.read_headers(again).fields
    assert (fields.kind, fields.payload_digest) == ("revisit", archive.read_headers(refs[1]).fields.payload_digest)
    assert fields.get("WARC-Refers-To-Target-URI") == "http://www.rehemaa.test/"


def test_a_version_is_kept_whole_when_what_it_would_stand_on_is_gone(
    archive: Archive,
    folder: Path,
    shelf: FolderShelf,
    make_visit: Callable[..., Visit],
    keep_all: Callable[..., list[RecordRef]],
) -> None:
    bodies = _versions(3)
    refs = keep_all(bodies[:2])
    _flip(folder / refs[0].file, refs[0].offset + refs[0].length // 2)
    ref = archive.keep_change(make_visit(body=bodies[2]), base=refs[1])
    assert not read_chain_link(shelf, ref).is_delta
    assert archive.open_body(ref).read() == bodies[2]


def test_a_missing_or_damaged_base_is_named_and_all_else_stays_readable(
    open_archive: Callable[..., Archive], make_visit: Callable[..., Visit], folder: Path
) -> None:
    archive, bodies = open_archive(file_bytes=1), _versions(3)  # a file for each record
    refs = [archive.keep(make_visit(body=bodies[0]))]
    refs += [archive.keep_change(make_visit(body=body), base=refs[0]) for body in bodies[1:]]
    other = archive.keep(make_visit(body=b"another page"))
    archive.sync()
    aside = (folder / refs[0].file).rename(folder.parent / "aside")
    with pytest.raises(RecordMissing, match=refs[0].file):
        archive.open_body(refs[1])
    assert archive.open_body(other).read() == b"another page"
    aside.rename(folder / refs[0].file)
    assert archive.open_body(refs[1]).read() == bodies[1]
    _flip(folder / refs[1].file, refs[1].offset + refs[1].length - 12)
    with pytest.raises(RecordDamaged, match=refs[1].file):
        archive.open_body(refs[1])


def test_deltas_are_recovered_like_all_else(
    archive: Archive, open_archive: Callable[..., Archive], keep_all: Callable[..., list[RecordRef]], folder: Path
) -> None:
    bodies = _versions(4)
    refs = keep_all(bodies)
    with (folder / refs[0].file).open("ab") as file:
        file.write(pack_stored(b"WARC/1.1\r\nWARC-Type: delta\r\n", b"half")[:-7])
    *kept, torn = open_archive().recover(lambda _: refs[1].end)
    assert [item.record for item in kept if isinstance(item, KeptVisit)] == refs[2:]
    assert [item.size for item in kept if isinstance(item, KeptVisit)] == [len(body) for body in bodies[2:]]
    assert isinstance(torn, TornPart)
    assert torn.set_aside


def _flip(path: Path, offset: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[offset] ^= 0x10
    path.write_bytes(raw)
