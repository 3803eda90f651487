"""Shapes: inputs that can be had in any size, drawn by lot from others and cut down to what matters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

COUNTER = b"{n}"  # stands for another number in each repetition
BETWEEN = b"\x1e"  # between the two inputs of a door that compares
TOKENS = (
    b"a", b" ", b"\n", b"\t", b"\r\n", b"\n ", b"\n\n", b"\x00", b"0", b".", b",", b";", b":", b"-", b"_", b"/", b"//", b"/../", b"\\",
    b'"', b"'", b'""', b"(", b")", b"[", b"]", b"{", b"}", b"<", b">", b"</", b"/>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>",
    b"&", b"&amp;", b"&#0;", b"&lt;", b"=", b"?", b"#", b"@", b"%", b"%25", b"%2F", b"*", b"$", b"^", b"|", b"+", b"~",
    b"<a>", b"</a>", b"<b>", b"</b>", b"<div>", b"</div>", b"<p>", b"<table>", b"<td>", b"<tr>", b"<li>", b"<svg>", b"<x{n}>",
    b"</x{n}>", b" a{n}=b", b"a{n}", b"A{n} ", b"Jaan Tamm ", b"Jaan ", b"Tartu Linn ", b"x{n} ", b"http://a.ee/{n} ", b"\xc3\xb5",
    b"\xc3\x83\xc2\xb5", b"\xcc\x81", b"\xe2\x80\x8b", b"\xc2\xad", b"\xff", b"\x1b[", b"\xef\xbb\xbf", b"{n}", b"{n},", b'"a{n}":{n},',
)  # fmt: skip
_PIECES = re.compile(rb"</?[\w!?:-]+|[\w.]+|\s+|.", re.DOTALL)
_MOST = 8  # pieces of a shape


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes, that stand once or again and again."""

    unit: bytes
    repeated: bool = True


@dataclass(frozen=True, slots=True)
class Shape:
    """Pieces one after another: of ``<b>`` and ``</b>``, both repeated, all the first ones come before all the last ones."""

    pieces: tuple[Piece, ...]

    def of(self, size: int) -> bytes:
        """Return an input of about so many bytes."""
        unit = sum(len(piece.unit) for piece in self.pieces if piece.repeated)
        times = size // unit if unit else 1
        return b"".join(_repeat(piece.unit, times) if piece.repeated else piece.unit for piece in self.pieces)

    def __str__(self) -> str:
        return " + ".join(f"n * {piece.unit!r}" if piece.repeated else repr(piece.unit) for piece in self.pieces)


def repeat(*units: bytes | str, before: bytes | str = b"", after: bytes | str = b"") -> Shape:
    """Return a shape of units that are repeated, with something before them all and after them all."""
    pieces = [
        Piece(_raw(before), repeated=False),
        *(Piece(_raw(unit)) for unit in units),
        Piece(_raw(after), repeated=False),
    ]
    return Shape(tuple(piece for piece in pieces if piece.unit))


def repeat_each(*units: bytes | str) -> tuple[Shape, ...]:
    """Return a shape of each unit."""
    return tuple(repeat(unit) for unit in units)


def pair(old: Shape, new: Shape) -> Shape:
    """Return the shape of two inputs that are compared."""
    return Shape((*old.pieces, Piece(BETWEEN, repeated=False), *new.pieces))


def _raw(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _repeat(unit: bytes, times: int) -> bytes:
    if COUNTER not in unit:
        return unit * times
    parts = unit.split(COUNTER)
    return b"".join(str(n).encode().join(parts) for n in range(times))


def mutate(shape: Shape, chance: Random, others: Sequence[Shape]) -> Shape:
    """Return a shape of which a few pieces are changed, nested, counted, merged, or from another shape."""
    pieces = list(shape.pieces)
    for _ in range(chance.choice((1, 1, 2, 3, 5))):
        at = chance.randrange(len(pieces))
        piece, token = pieces[at], _draw_token(chance, others)
        match chance.randrange(11):
            case 0:
                pieces[at] = replace(piece, unit=token)
            case 1:
                pieces[at] = replace(piece, unit=_insert(piece.unit, token, chance))
            case 2:
                pieces[at] = replace(piece, unit=_without(piece.unit, chance) or token)
            case 3:
                pieces.insert(at + chance.randrange(2), Piece(token))
            case 4:
                pieces.insert(at + chance.randrange(2), Piece(token * chance.choice((1, 1, 30, 3_000)), repeated=False))
            case 5:
                pieces[at] = replace(piece, unit=_insert(piece.unit, COUNTER, chance))
            case 6:
                pieces[at] = replace(piece, unit=piece.unit[:200] * chance.choice((2, 10, 60)))
            case 7 if len(piece.unit) < 2_000:
                pieces[at] = replace(piece, repeated=not piece.repeated)
            case 8 if len(pieces) > 1:
                del pieces[at]
            case 9 if at + 1 < len(pieces):
                pieces[at : at + 2] = [replace(piece, unit=piece.unit + pieces[at + 1].unit)]
            case _:
                pieces[at:at] = list(chance.choice(others).pieces)
        pieces = pieces[:_MOST]
    return Shape(tuple(pieces))


def smaller(shape: Shape) -> Iterator[Shape]:
    """Yield shapes with a little less in them."""
    for at, piece in enumerate(shape.pieces):
        rest = shape.pieces[:at], shape.pieces[at + 1 :]
        if any(one.repeated for one in (*rest[0], *rest[1])):
            yield Shape((*rest[0], *rest[1]))
        half = len(piece.unit) // 2
        for unit in (piece.unit[:half], piece.unit[half:], piece.unit[:-1], piece.unit[1:]):
            if 0 < len(unit) < len(piece.unit):
                yield Shape((*rest[0], replace(piece, unit=unit), *rest[1]))


def _draw_token(chance: Random, others: Sequence[Shape]) -> bytes:
    """Return a token of those that mean something somewhere, or a bit of another shape of the same door."""
    if chance.random() < 0.6:
        return chance.choice(TOKENS)
    units = [piece.unit for piece in chance.choice(others).pieces]
    found = _PIECES.findall(chance.choice(units)[:2_000])
    at = chance.randrange(len(found))
    return b"".join(found[at : at + chance.choice((1, 2, 4))])


def _insert(unit: bytes, token: bytes, chance: Random) -> bytes:
    found = _PIECES.findall(unit)
    found.insert(chance.randint(0, len(found)), token)
    return b"".join(found)


def _without(unit: bytes, chance: Random) -> bytes:
    found = _PIECES.findall(unit)
    del found[chance.randrange(len(found))]
    return b"".join(found)
