"""Sentences: a text split into sentences, and these into tokens with their offsets.

A line break ends a sentence, unless it looks like the soft wrap of a typeset page (PDF and plain text): a name may
go on in the next line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from rehi.languages.word_lists import word_list

# A sentence of more tokens is a table or a list; the morphological analyser gets slow on it (1,000 tokens are still
# as fast as 10, 30,000 are five times slower per word).
MAX_TOKENS = 250


class Token(NamedTuple):
    """A word, number or sign, and its offsets in the text."""

    text: str
    start: int
    end: int


# Bounded repeats keep every alternative linear in the length of hostile input.
_TOKEN = re.compile(
    r"""
      (?:https?://|ftp://|www\.)[^\s<>"„“”«»]{1,2000}(?<![.,;:!?)])  # an address of the web
    | [\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}        # an address of mail
    | \d{1,30}(?:[.,:/–-]\d{1,30}){1,20}%?                   # 1.12.2014, 3,5, 12:30, 2021–2030
    | (?:[^\W\d_]\.){2,6}(?![^\W_])                          # e.g. U.S., A.H.
    | [^\W_]{1,100}(?:[-'’&.][^\W_]{1,100}){0,20}(?:-(?=[\s,]))?%?  # Mari-Liis, O'Neill, AT&T, Ida-, 40%
    | \.{2,} | --+ | '' | ``
    | \S
    """,
    re.VERBOSE,
)
_SUFFIX_S = re.compile(r"['’]s$", re.IGNORECASE)
_INNER_DOT = re.compile(r"^[^\W\d_]{2,}(?:\.[^\W_]+)+$")
_DOMAIN = re.compile(r"^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}$")
_LINE = re.compile(r"[^\n]+")
_UNSAFE = re.compile("[\ud800-\udfff\0]")

_ABBREVIATIONS = word_list(
    "aj alg apr aug dets dr e.m.a hr ibid jaan jj jm jms jmt jne jpm jr jt jun juul kd kl kr krt kt lg lk lp lüh "
    "mag mh min mld mln mnt mr mrs ms nim nn no nov nr nt okt p.o pl pr prl prof ps pst ptk reg saj sealh seals sen "
    "sept sh sk skp sl sm snd so st stj tel tk tlk tn umb v.a vanemins vrd vm vms vs vt õa õp sr etc vol fig inc "
    "ltd co corp dept est approx al ed eds pp cf rev hon gen col capt lt sgt gov rep pres jan feb mar jul sep oct "
    "dec"
)
_INITIALS = frozenset({"Th", "Ch", "Ph", "Fr", "Jr", "Sr"})  # beside those of one letter
_MONTHS = (
    "jaanuar", "veebruar", "märts", "aprill", "mai", "juuni", "juuli", "august", "septemb", "oktoob", "novemb", "detsemb",
)  # fmt: skip
_ENDS = frozenset(".?!…") | {"...", "..", "....", "?!", "!!"}
_CLOSING = frozenset("\"”“»’')]}") | {"''"}
_INSIDE = frozenset(",;:)]}")  # no sentence begins with them
_SOFT_FROM, _SOFT_TO = 55, 130  # the widths of a typeset line


def blocks(text: str, size: int) -> Iterator[list[list[Token]]]:
    """Yield the sentences in blocks of ``size``, which are tagged together, so that no text is too long."""
    rows = sentences(text)
    while block := list(islice(rows, size)):
        yield block


def _is_soft_wrap(before: str, after: str) -> bool:
    """Whether the break between two lines is a soft wrap."""
    before, after = before.rstrip(), after.lstrip()
    if not before or not after or before[-1] in ".?!:;…|" or not after[0].isalpha():
        return False
    if after[0].islower():
        return len(before) >= 30
    return _SOFT_FROM <= len(before) <= _SOFT_TO


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of stretches of text that no sentence crosses."""
    begin = end = -1
    last = ""
    for line in _LINE.finditer(text):
        if begin >= 0 and line.start() == end + 1 and _is_soft_wrap(last, line.group()):
            end = line.end()
        else:
            if begin >= 0:
                yield begin, end
            begin, end = line.span()
        last = line.group()
    if begin >= 0:
        yield begin, end


def _pieces(word: str, start: int) -> Iterator[Token]:
    """Split a matched word into its tokens: "Mari's" is two, "lõppes.Siis" three."""
    suffix = _SUFFIX_S.search(word)
    if suffix and suffix.start():
        yield from _pieces(word[: suffix.start()], start)
        yield Token(word[suffix.start() :], start + suffix.start(), start + len(word))
        return
    if "." in word and _INNER_DOT.match(word) and not _DOMAIN.match(word):
        at = 0
        for part in re.split(r"(\.)", word):
            yield Token(part, start + at, start + at + len(part))
            at += len(part)
        return
    yield Token(word, start, start + len(word))


def _keeps_dot(word: str, following: str) -> bool:
    """Whether the dot after a word belongs to it. ``following`` is what stands after the dot and a space."""
    if (len(word) == 1 and word.isupper()) or word in _INITIALS:
        return True
    if word.isdigit() and len(word) <= 4:
        return following[:1].islower() or following.lower().startswith(_MONTHS)
    lowered = word.lower()
    return lowered in _ABBREVIATIONS and (following[:1].islower() or following[:1].isdigit() or word[0].isupper())


_FOLLOWING = re.compile(r"\s{1,5}(\S{1,12})")


def _tokens(text: str, start: int, end: int) -> Iterator[Token]:
    held: Token | None = None
    for match in _TOKEN.finditer(text, start, end):
        word = match.group()
        if word == "." and held is not None and held.end == match.start():
            after = _FOLLOWING.match(text, match.end(), end)
            if after is not None and _keeps_dot(held.text, after.group(1)):
                held = Token(held.text + ".", held.start, match.end())
                continue
        if held is not None:
            yield held
            held = None
        if len(word) == 1 or word.isalnum():
            held = Token(word, match.start(), match.end())
        else:
            *before, held = _pieces(word, match.start())
            yield from before
    if held is not None:
        yield held


def sentences(text: str) -> Iterator[list[Token]]:
    """Yield the sentences of a text, in order; ``text[start:end]`` is each token's text.

    Lone surrogates and NULs, which models written in C don't take, become U+FFFD; offsets stay the same.
    """
    text = _UNSAFE.sub("\ufffd", text)
    for start, end in _stretches(text):
        sentence: list[Token] = []
        ended = False
        for token in _tokens(text, start, end):
            if ended and (token.text in _CLOSING and token.start == sentence[-1].end):
                sentence.append(token)
                continue
            goes_on = token.text[0].islower() or token.text[0] in _INSIDE
            if (ended and not goes_on) or len(sentence) >= MAX_TOKENS:
                yield sentence
                sentence = []
            sentence.append(token)
            ended = token.text in _ENDS
        if sentence:
            yield sentence
