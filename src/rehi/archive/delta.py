"""A delta: a version as its difference from an earlier one, as docs/delta.md specifies it.

It is zstd with the earlier one as its prefix. Which one that is follows from the version's step, its number since the
last that was stored whole. Written in base 4, the base is the step with its last digit that is not 0 counted down by
one: 0123 is based on 0122, 0120 on 0110. So a version is never more than 12 deltas from a whole one, though whole ones come
only every 256 versions. Five real histories (109 MB) in MB with record headers: whole every 8, each on the one before, 4.85;
every 16, 2.99; these steps 1.60. Of large files the whole digit is taken away (0123 is based on 0120): 4 deltas at most,
since each of them costs time in proportion to the file.
"""

from __future__ import annotations

from typing import Any

from rehi.errors import RecordDamaged
from rehi.zstd import zstd_module

SPAN = 256  # versions from one that is stored whole to the next
RADIX = 4
LARGE = 512 * 1024  # bytes of a content, from which on fewer steps matter more than room
MOST = 256 * 1024 * 1024  # bytes of a content that is ever handled as a delta: it must be in memory with its base
# Pairs of versions, KB and seconds of CPU. Level 3, matches far away looked for in large ones only: real 851 and 0.17,
# generated 1,176 and 1.65. Level 1, looked for in all from 32 bytes on: real 588 and 0.16, generated 1,013 and 1.17.
LEVEL = 1
MATCH = 32
_WINDOW = 27  # the largest that every reader of zstd accepts without being told: 128 MB


def base_step(step: int, *, large: bool) -> int:
    """Return the step of the version on which the one at ``step`` is based."""
    unit = 1
    while step // unit % RADIX == 0:
        unit *= RADIX
    return step - unit * (step // unit % RADIX if large else 1)


def encode(content: bytes, *, base: bytes) -> bytes:
    """Return the content as one zstd frame with its size and a checksum; only with the same base can it be decoded."""
    zstd = zstd_module()
    total = len(base) + len(content)
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {
        parameter.compression_level: LEVEL,
        parameter.window_log: min(max(total.bit_length(), 10), _WINDOW),
        parameter.enable_long_distance_matching: 1,
        parameter.ldm_min_match: MATCH,
        parameter.checksum_flag: 1,
    }
    frame: bytes = zstd.compress(content, options=options, zstd_dict=_prefix(base))
    return frame


def decode(packed: bytes, *, base: bytes) -> bytes:
    """Return the content of a frame; RecordDamaged if the frame or its base is not as it was."""
    zstd = zstd_module()
    try:
        size = zstd.get_frame_info(packed).decompressed_size
        if size is None or size > MOST:
            raise RecordDamaged(f"a delta says that it holds {size} bytes")
        frame = zstd.ZstdDecompressor(zstd_dict=_prefix(base))
        content: bytes = frame.decompress(packed, max_length=size + 1)
        if not frame.eof:  # the checksum comes after the last byte
            content += frame.decompress(b"", max_length=1)
    except (zstd.ZstdError, EOFError, ValueError) as error:
        raise RecordDamaged(f"a delta can't be read: {error}") from error
    if not frame.eof or frame.unused_data or len(content) != size:
        raise RecordDamaged("a delta is not as long as it says")
    return content


def _prefix(base: bytes) -> Any:
    """Return the base as zstd's prefix; None if it has less than 8 bytes, which zstd does not take."""
    zstd = zstd_module()
    return zstd.ZstdDict(base, is_raw=True).as_prefix if len(base) >= 8 else None
