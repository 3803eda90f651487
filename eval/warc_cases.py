"""Web archives as others write them and as they get damaged, each with the records that are whole in it."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass

from tests.warcs import arc, frames, frames_with_dictionary, http, members, record, response, sha1

URLS = [f"http://a.ee/{number}" for number in range(4)]
BODIES = [f"<p>page {number}</p>".encode() * 40 for number in range(4)]
RECORDS = [response(url, body) for url, body in zip(URLS, BODIES, strict=True)]
_PLAIN = b"".join(RECORDS)
_BLOCKS = [http(body) for body in BODIES]
_ARC = arc(*zip(URLS, _BLOCKS, strict=True))


@dataclass(frozen=True, slots=True)
class ArchiveCase:
    """A file, the numbers of its whole answers, and whether something of it is damaged, which a reader has to say."""

    name: str
    content: bytes
    whole: tuple[int, ...] = (0, 1, 2, 3)
    damaged: bool = False
    url: str = ""  # of the first answer, if it is another

    @property
    def answers(self) -> list[tuple[str, bytes]]:
        """The URL and the block of each whole answer."""
        urls = [self.url or URLS[0], *URLS[1:]]
        return [(urls[number], _BLOCKS[number]) for number in self.whole]


def _with_zeros(packed: Sequence[bytes], number: int) -> bytes:
    """Return a file in which the middle of one part is zeros."""
    hurt = bytearray(packed[number])
    hurt[20:-20] = bytes(len(hurt) - 40)
    return b"".join([*packed[:number], bytes(hurt), *packed[number + 1 :]])


def _second(old: bytes, new: bytes) -> list[bytes]:
    """Return the records, the second with something else in its head."""
    assert old in RECORDS[1]
    return [RECORDS[0], RECORDS[1].replace(old, new), *RECORDS[2:]]


def _misdigested() -> list[bytes]:
    block = _BLOCKS[1][:-1] + b"?"
    return [RECORDS[0], record("response", URLS[1], block, WARC_Block_Digest=sha1(_BLOCKS[1])), *RECORDS[2:]]


_MEMBERS = [members([one]) for one in RECORDS]
_LENGTH = f"Content-Length: {len(_BLOCKS[1])}".encode()
_LINE_FEEDS = [
    one.partition(b"\r\n\r\n")[0].replace(b"\r\n", b"\n") + b"\n\n" + block + b"\n\n"
    for one, block in zip(RECORDS, _BLOCKS, strict=True)
]
_BRACKETS = RECORDS[0].replace(f"URI: {URLS[0]}".encode(), f"URI: <{URLS[0]}>".encode())

SOUND = (
    ArchiveCase("plain", _PLAIN),
    ArchiveCase("gzip, a member for each record", b"".join(_MEMBERS)),
    ArchiveCase("gzip, one member", gzip.compress(_PLAIN, mtime=0)),
    ArchiveCase("gzip, two records in a member", members([RECORDS[0] + RECORDS[1], RECORDS[2] + RECORDS[3]])),
    ArchiveCase("gzip, zeros between members", b"\0\0\0".join(_MEMBERS)),
    ArchiveCase("zstd", frames(RECORDS)),
    ArchiveCase("zstd with a dictionary", frames_with_dictionary(RECORDS)),
    ArchiveCase("zstd with a packed dictionary", frames_with_dictionary(RECORDS, packed=True)),
    ArchiveCase("WARC 0.17", members([one.replace(b"WARC/1.0", b"WARC/0.17", 1) for one in RECORDS])),
    ArchiveCase("lines that end with a line feed", b"".join(_LINE_FEEDS)),
    ArchiveCase("a URL in brackets, as wget wrote it", members([_BRACKETS, *RECORDS[1:]])),
    ArchiveCase("ARC", b"".join(_ARC)),
    ArchiveCase("ARC in gzip members", members(_ARC)),
    ArchiveCase("ARC, two records in a member", members([_ARC[0] + _ARC[1] + _ARC[2], _ARC[3] + _ARC[4]])),
    ArchiveCase("ARC 2", b"".join(arc(*zip(URLS, _BLOCKS, strict=True), version=2))),
    ArchiveCase(
        "ARC, blanks in a URL",
        b"".join([_ARC[0], _ARC[1].replace(URLS[0].encode(), b"http://a.ee/a b"), *_ARC[2:]]),
        url="http://a.ee/a b",
    ),
)
DAMAGED = (
    ArchiveCase("gzip, a damaged member", _with_zeros(_MEMBERS, 1), (0, 2, 3), damaged=True),
    ArchiveCase("gzip, a wrong checksum", b"".join(_MEMBERS)[:-6] + bytes(6), (0, 1, 2), damaged=True),
    ArchiveCase("gzip, torn in a member", b"".join(_MEMBERS)[:-40], (0, 1, 2), damaged=True),
    ArchiveCase("gzip, torn in a checksum", b"".join(_MEMBERS)[:-4], (0, 1, 2), damaged=True),
    ArchiveCase("gzip, a member that is no record", members([*RECORDS[:2], b"nothing\r\n" * 9, *RECORDS[2:]]), damaged=True),
    ArchiveCase("zstd, a damaged frame", _with_zeros([frames([one]) for one in RECORDS], 1), (0, 2, 3), damaged=True),
    ArchiveCase("plain, a damaged head", b"".join(_second(b"WARC/1.0\r\nWARC-Type", b"\0" * 19)), (0, 2, 3), damaged=True),
    ArchiveCase("plain, rubbish between records", RECORDS[0] + b"rubbish\r\n" + b"".join(RECORDS[1:]), damaged=True),
    ArchiveCase("plain, torn", _PLAIN[:-40], (0, 1, 2), damaged=True),
    ArchiveCase("a length that is too long", b"".join(_second(_LENGTH, b"Content-Length: 700")), (0, 3), damaged=True),
    ArchiveCase("a length that is too short", b"".join(_second(_LENGTH, b"Content-Length: 60")), (0, 2, 3), damaged=True),
    ArchiveCase("a length that is none", members(_second(_LENGTH, b"Content-Length: abc")), (0, 2, 3), damaged=True),
    ArchiveCase("a length beyond the end", members(_second(_LENGTH, b"Content-Length: 9999999")), (0, 2, 3), damaged=True),
    ArchiveCase("a block that is not what its digest says", members(_misdigested()), (0, 2, 3), damaged=True),
    ArchiveCase("ARC, a damaged member", _with_zeros([members([one]) for one in _ARC], 2), (0, 2, 3), damaged=True),
    ArchiveCase("ARC, torn", b"".join(_ARC)[:-40], (0, 1, 2), damaged=True),
)  # fmt: skip
