"""Mutation: bytes and JSON values that are almost what they should be, drawn by lot."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

TOKENS = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xf0\x9f\x8c\xbe", b"\r\n\r\n", b"\n", b"\r", b"\t", b"%00", b"%ff", b"..", b"/",
    b"\\", b'"', b"'", b"<", b">", b"{", b"}", b"[", b"]", b"(", b")", b"&#0;", b"&#xD800;", b"&#99999999999;", b"<!--", b"-->",
    b"<![CDATA[", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"-1", b"0", b"9" * 30, b"9" * 5_000, b"1e999", b"NaN", b"0x10",
    b"2026-02-30", b"0000-00-00T00:00:00Z", b"99999999999999", b"http://[::1", b"http://a.test:99999/", b"javascript:1",
    b"\xef\xbb\xbf", b"\x1f\x8b", b"PK\x03\x04", b"%PDF-", b"WARC/1.0\r\n", b"chunked", b"gzip", b"\xd9\xb3", b"*", b"$", b"^",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, 10**40, 1e308, float("inf"), "", "\0", "\ud800", "../../x", "a" * 5_000, "9" * 5_000, [], {}, [[]],
    {"a": None}, "2026-02-30T00:00:00Z", ["\0"],
)  # fmt: skip


def mutate(raw: bytes, chance: Random, others: Sequence[bytes] = ()) -> bytes:
    """Return bytes of which a few places are cut, doubled, moved, replaced or from another sample."""
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        at, to = sorted((chance.randint(0, len(raw)), chance.randint(0, len(raw))))
        how = chance.randrange(8)
        if how == 0:
            raw = raw[:to]
        elif how == 1:
            raw = raw[:at] + raw[min(to, at + 200) :]
        elif how == 2:
            raw = raw[:at] + raw[at : at + 500] * chance.choice((2, 3, 50)) + raw[at:]
        elif how == 3 and others:
            other = chance.choice(others)
            start = chance.randint(0, len(other))
            raw = raw[:at] + other[start : start + chance.randint(1, 2_000)] + raw[at:]
        elif how == 4 and raw:
            flipped = bytearray(raw)
            for _ in range(chance.randint(1, 6)):
                flipped[chance.randrange(len(raw))] = chance.randrange(256)
            raw = bytes(flipped)
        elif how == 5:
            raw = raw[:at] + chance.choice(TOKENS) * chance.choice((1, 1, 2, 400)) + raw[at:]
        else:
            token = chance.choice(TOKENS)
            raw = raw[:at] + token + raw[at + len(token) :]
    return raw[:2_000_000]


def mutate_value(value: Any, chance: Random) -> Any:
    """Return a JSON value of which one place is missing or another value."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return chance.choice(VALUES)
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    key = chance.choice(list(changed)) if isinstance(changed, dict) else chance.randrange(len(changed))
    if chance.random() < 0.15:
        del changed[key]
    else:
        changed[key] = mutate_value(changed[key], chance)
    return changed
