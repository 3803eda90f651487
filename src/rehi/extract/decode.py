"""Decoding: bytes to text, whatever their charset is or claims to be.

Mojibake, which is UTF-8 that somebody read as a Western or Baltic encoding, is put right again.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE_MARKS = tuple(mark for mark, _ in _BOMS[1:])
# What browsers read under these labels.
_SUPERSETS = {"iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030"}
_NOT_FOR_BODIES = {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7"}
_LATIN = ("cp1252", "cp1257", "iso8859-15", "iso8859-13", "iso8859-4")
# The letters beyond ASCII by which these languages are told to be read rightly.
_ALPHABETS = {
    "et": "õäöüšž",
    "fi": "äöåšž",
    "sv": "åäöé",
    "lv": "āčēģīķļņōŗšūž",
    "lt": "ąčęėįšųūž",
    "de": "äöüß",
    "en": "éèçñáó",
}
_ANYWHERE = "šž"  # in names in any language
_SAMPLE = 200_000  # bytes that are looked at to choose
_FEW_BAD = 50  # one bad byte to this many good sequences: still UTF-8, damaged by a careless template
_CODEC = re.compile(r"^(?:iso8859-|cp(?=125\d$))")  # as Python calls what the web calls otherwise
_ESCAPED = re.compile("[\udc80-\udcff]")
_TAGS = re.compile(rb"<[^>]{0,1000}>")
_C1 = re.compile("[\x80-\x9f]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_SIGN_IN_WORD = re.compile("(?<=[A-Za-z])[\xa1-\xbf×÷˙˛ˇ](?=[A-Za-z])|(?<![\\w.])[¢¤¦¨¬¯²³´¶¸¹¼½¾](?=[a-zäöõü])")
_META = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""", re.IGNORECASE)

# Read as which encoding; the first wins when several explain a text equally well.
_MISREAD_AS = ("cp1252", "iso8859-15", "cp1257", "iso8859-13", "iso8859-4")
# The bytes C3 in the encodings above: every letter of the Latin-1 block starts with it, õ ä ö ü among them.
_TELL_TALES = ("Ã", "Ć")
_USUAL = frozenset("õäöüÕÄÖÜšžŠŽ")
_ROUNDS = 3  # what was misread twice needs two
_CYRILLIC = re.compile("(?:[ÐÑ][\x80-¿Œ-žˆ-™]){3}")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and the charset by which it was read, under the name that the web uses."""

    text: str
    charset: str


def decode(raw: bytes, *, declared: str = "") -> Decoded:
    """Read bytes as text: a byte order mark, UTF-8, the declared charset if it fits, else the best guess."""
    decoded = _decode(raw, declared)
    charset = _CODEC.sub(lambda match: "windows-" if match[0] == "cp" else "iso-8859-", decoded.charset)
    return Decoded(repair(decoded.text), charset)


def decode_markup(raw: bytes, *, declared: str = "") -> Decoded:
    """Decode HTML or XML, which may declare a charset inside when its server does not."""
    return decode(raw, declared=declared or charset_inside(raw))


def charset_inside(raw: bytes) -> str:
    """Return the charset that markup declares in its first bytes; "" without one."""
    declaration = _XML.search(raw[:1024]) or _META.search(raw[:4096])
    return declaration[1].decode("ascii", "replace").lower() if declaration else ""


def wide_charset(raw: bytes) -> str:
    """Return UTF-16 or UTF-32 by its mark, or UTF-16 without one by the zero bytes of its Latin letters; "" if neither."""
    sample = raw[:2048]
    if sample.startswith(_WIDE_MARKS):
        return next(name for mark, name in _BOMS[1:] if sample.startswith(mark))
    if b"\0" not in sample:
        return ""
    even, odd = sample[0::2], sample[1::2]
    if len(sample) >= 8 and odd.count(0) > len(odd) * 0.7 and even.count(0) < len(even) * 0.1:
        return "utf-16-le"
    if len(sample) >= 8 and even.count(0) > len(even) * 0.7 and odd.count(0) < len(odd) * 0.1:
        return "utf-16-be"
    return ""


def _decode(raw: bytes, declared: str) -> Decoded:
    if raw.startswith(codecs.BOM_UTF8):
        return Decoded(raw[3:].decode("utf-8", "replace"), "utf-8")
    if wide := wide_charset(raw):
        return Decoded(raw.decode(wide, "replace").removeprefix("\ufeff"), wide[:6])
    label = _codec(declared)
    if label.startswith("iso2022") and b"\x1b" in raw:
        return Decoded(raw.decode(label, "replace"), label)
    text = _as_utf8(raw)
    if text is not None:
        return Decoded(text, "utf-8")
    charset = _choose(raw, label)
    return Decoded(raw.decode(charset, "replace"), charset)


def _as_utf8(raw: bytes) -> str | None:
    """Return the text if it is UTF-8, or nearly is: then the few bad bytes are taken for Windows-1252."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if (
            error.start >= len(raw) - 3
            and error.reason == "unexpected end of data"
            and not raw[: error.start].isascii()
        ):
            return raw[: error.start].decode("utf-8")  # cut in the middle of a character
        around = raw[max(0, error.start - _SAMPLE // 2) : error.start + _SAMPLE // 2]
    sample = around.decode("utf-8", "surrogateescape")
    bad = len(_ESCAPED.findall(sample))
    good = len(_BEYOND_ASCII.findall(sample)) - bad
    if good < bad * _FEW_BAD:
        return None
    text = raw.decode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda match: _from_1252(ord(match[0]) - 0xDC00), text)


def _from_1252(byte: int) -> str:
    return bytes([byte]).decode("cp1252", "replace")


def _choose(raw: bytes, label: str) -> str:
    """Return the charset for bytes that are not UTF-8: the declared one unless the text says otherwise."""
    from chardet import detect

    sample = raw[:_SAMPLE]
    guess = detect(sample, prefer_superset=True, compat_names=False)
    guessed = _codec(guess["encoding"] or "")
    if label and label not in _LATIN and label != "utf-8" and _fits(sample, label):
        return label
    alphabet = _ALPHABETS.get((guess["language"] or "")[:2].lower(), "")
    if guessed not in _LATIN and not alphabet and (not label or _is_foreign(sample)):
        return guessed or "cp1252"
    candidates = [name for name in dict.fromkeys((label, guessed, *_LATIN)) if name and _fits(sample, name)]
    merits = {name: _plausibility(sample.decode(name, "ignore"), alphabet) for name in candidates}
    if label in merits and label != "cp1252":  # Latin-1 is what servers say when nobody told them; this somebody chose
        merits[label] += 2
    # The first of equals: the declared one, then the guess.
    return max(candidates, key=lambda name: merits[name], default="cp1252")


def _is_foreign(sample: bytes) -> bool:
    """Whether there are more letters beyond ASCII than within: no language that is written in Latin letters looks so."""
    words = _TAGS.sub(b"", sample)
    beyond = sum(words.count(byte) for byte in range(0xC0, 0x100))
    return beyond > sum(words.count(byte) for byte in range(0x41, 0x7B))


def _plausibility(text: str, alphabet: str) -> int:
    """Return how plausible a text is: letters of the language raise it; controls, signs in words and foreign letters lower it."""
    score = -10 * len(_C1.findall(text)) - 3 * len(_SIGN_IN_WORD.findall(text))
    if alphabet:
        letters = Counter(char.lower() for char in _BEYOND_ASCII.findall(text) if char.isalpha())
        score += sum(count if char in alphabet else -count for char, count in letters.items() if char not in _ANYWHERE)
        score += sum(letters[char] for char in _ANYWHERE if char in alphabet)
    return score


def _fits(sample: bytes, charset: str) -> bool:
    try:
        codecs.getincrementaldecoder(charset)().decode(sample)
    except (UnicodeError, LookupError):
        return False
    return True


@lru_cache  # labels come from outside, so not without end
def _codec(label: str) -> str:
    """Return Python's name for a charset label, as browsers understand it; "" for one that names no charset of text."""
    try:
        codec = codecs.lookup(label.strip())
    except (LookupError, ValueError):
        return ""
    if not getattr(codec, "_is_text_encoding", True) or codec.name in _NOT_FOR_BODIES:
        return ""
    return _SUPERSETS.get(codec.name, codec.name)


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
