"""Mojibake: UTF-8 that somebody read as a Western or Baltic encoding, put right again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

# Read as which encoding; the first wins when several explain a text equally well.
_MISREAD_AS = ("cp1252", "iso8859-15", "cp1257", "iso8859-13", "iso8859-4")
# The bytes C3 in the encodings above: every letter of the Latin-1 block starts with it, õ ä ö ü among them.
_TELL_TALES = ("Ã", "Ć")
_USUAL = frozenset("õäöüÕÄÖÜšžŠŽ")
_ROUNDS = 3  # what was misread twice needs two
_CYRILLIC = re.compile("(?:[ÐÑ][\x80-¿Œ-žˆ-™]){3}")


def repair(text: str) -> str:
    """Return the text as it was meant; one that shows no sign of mojibake costs two searches for a character."""
    for _ in range(_ROUNDS):
        if not any(sign in text for sign in _TELL_TALES):
            break
        mended = _repair_once(text)
        if mended == text:
            break
        text = mended
    return _repair_cyrillic(text) if "Ð" in text and _CYRILLIC.search(text) else text


def _repair_once(text: str) -> str:
    """Mend by the encoding that explains most; a text is only touched where it has letters led by C3."""
    best, best_score = "", 0
    for encoding in _MISREAD_AS:
        score = _score(text, encoding)
        if score > best_score:
            best, best_score = encoding, score
    if not best:
        return text
    table = _bytes_of(best)
    return _sequences(best).sub(lambda match: _mend(match[0], table), text)


def _score(text: str, encoding: str) -> int:
    table = _bytes_of(encoding)
    counts = dict.fromkeys(set(_letters(encoding).findall(text)), 0)
    for sequence in counts:
        counts[sequence] = text.count(sequence)
    mended = ((_mend(sequence, table), count) for sequence, count in counts.items())
    return sum(count * (3 if letter in _USUAL else 1) for letter, count in mended if len(letter) == 1)


def _mend(sequence: str, table: Mapping[str, int]) -> str:
    try:
        return bytes(table[char] for char in sequence).decode("utf-8")
    except (UnicodeDecodeError, KeyError):
        return sequence


def _repair_cyrillic(text: str) -> str:
    """Mend misread Cyrillic with ftfy: 2 MB per CPU-second, so it gets only the lines that show it."""
    from ftfy import fix_encoding

    return "\n".join(fix_encoding(line) if _CYRILLIC.search(line) else line for line in text.split("\n"))


@cache
def _bytes_of(encoding: str) -> Mapping[str, int]:
    """Return which byte each character came from; bytes that the encoding leaves out stay C1 controls, as browsers do."""
    table = {chr(byte): byte for byte in range(0x80, 0xA0)}  # some read as Latin-1 what others read as this
    for byte in range(0x80, 0x100):
        char = bytes([byte]).decode(encoding, "ignore")
        table.setdefault(char or chr(byte), byte)
    return table


@cache
def _letters(encoding: str) -> re.Pattern[str]:
    """Return a pattern for two characters that were one letter of the Latin-1 block."""
    return re.compile(_class_of(encoding, 0xC3, 0xC3) + _class_of(encoding, 0x80, 0xBF))


@cache
def _sequences(encoding: str) -> re.Pattern[str]:
    """Return a pattern for characters that were one: Latin letters and signs of two bytes, punctuation of three, others of four."""
    follow = _class_of(encoding, 0x80, 0xBF)
    two = _class_of(encoding, 0xC2, 0xC5) + follow
    three = _class_of(encoding, 0xE2, 0xE2) + follow * 2
    four = _class_of(encoding, 0xF0, 0xF0) + follow * 3
    return re.compile(f"{four}|{three}|{two}")


def _class_of(encoding: str, first: int, last: int) -> str:
    chars = [char for char, byte in _bytes_of(encoding).items() if first <= byte <= last]
    return "[" + "".join(map(re.escape, chars)) + "]"
