"""A chunk: a piece of a file, stored once under the SHA-256 of its bytes, as one zstd frame that any tool unpacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import BinaryIO

from rehi.errors import BackupDamaged
from rehi.zstd import zstd_module

CHUNK = 4 << 20  # bytes of a piece of a file: of one that is appended to, only the last piece is stored again
LARGEST = 128 << 20  # bytes that a chunk may unpack to
LEVEL = 3
FAST = -5  # for what is compressed already: the frame holds it as it is, at the cost of a look
FOLDER = "chunks"
_NAME = re.compile(rf"{FOLDER}/[0-9a-f]{{2}}/([0-9a-f]{{64}})\.zst")
DIGEST = re.compile(r"[0-9a-f]{64}")


def digest_of(content: bytes) -> str:
    """Return the digest by which a chunk is known."""
    return sha256(content).hexdigest()


def name_of(digest: str) -> str:
    """Return the name of a chunk in the store."""
    return f"{FOLDER}/{digest[:2]}/{digest}.zst"


def digest_in(name: str) -> str | None:
    """Return the digest of the chunk that has this name; None if it is none."""
    match = _NAME.fullmatch(name)
    return match[1] if match else None


def pack(content: bytes, *, compressed: bool) -> bytes:
    """Return the bytes as they are stored; ``compressed`` says that they were compressed before."""
    packed: bytes = zstd_module().compress(content, FAST if compressed else LEVEL)
    return packed


def unpack(packed: bytes, digest: str, *, where: str) -> bytes:
    """Return the bytes of a chunk; BackupDamaged if they are not those that were stored."""
    zstd = zstd_module()
    try:
        reader = zstd.ZstdDecompressor()
        content: bytes = reader.decompress(packed, LARGEST)
        whole = reader.eof and not reader.unused_data
    except zstd.ZstdError:
        whole = False
    if not whole or digest_of(content) != digest:
        raise BackupDamaged(
            f"the chunk {digest[:16]}… in {where} is damaged; `rehi backup verify` says which backups need it"
        )
    return content


def cut(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield a stream's bytes in pieces, ``size`` bytes in all, or fewer if it ends before."""
    while size > 0 and (piece := stream.read(min(CHUNK, size))):
        size -= len(piece)
        yield piece
