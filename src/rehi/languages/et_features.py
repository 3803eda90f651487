"""The features by which the Estonian model recognises names.

The model was trained with EstNLTK's features; these are the same, built from vabamorf's readings without EstNLTK's
layers. Those that a word adds to itself and to its four neighbours never change, so they are cached per word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rehi.languages.et_estnltk import MAX_WORDS, Analysis, Gazetteer

_OFFSETS = (-1, -2, 1, 2)
_QUOTES = frozenset("”„“")
_INNER_UNDERSCORE = re.compile(r"(?<=[^\W_])_(?=[^\W_])")
_FOR_NEIGHBOURS = ("iu", "au", "ad", "cu", "cd", "cs", "cp", "cds", "cdt")


class WordFeatures(NamedTuple):
    """The features of a word that do not depend on its text."""

    lemma: str
    part: str
    proper: bool
    capital: bool
    own: tuple[str, ...]
    to_neighbours: tuple[tuple[str, ...], ...]  # in the order of _OFFSETS


@dataclass(slots=True)
class _TextWord:
    """A word in its text, with the features that depend on the words around it."""

    word: WordFeatures
    first: bool  # of its sentence
    gazetteer: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


def _shape(text: str) -> list[str]:
    tests = {
        "iu": text[:1].isupper(),
        "au": text.isupper(),
        "ad": text.isdigit(),
        "ao": not any(c.isalnum() for c in text),
        "aan": text.isalnum(),
        "cu": any(c.isupper() for c in text),
        "cd": any(c.isdigit() for c in text),
        "cs": not text.isalnum(),
        "cp": "'" in text,
        "cds": "-" in text,
        "cdt": "." in text,
    }
    return [name for name, holds in tests.items() if holds]


def _lemma(reading: Analysis, parts: list[str], text: str) -> str:
    """Return the lemma in the form that the model knows: the part before the ending, in lower case."""
    marked = "_".join(parts) + ("+" + reading.ending if reading.ending else "") or text
    if len(marked) > 1:
        cut = marked.rfind("=")
        if cut == -1:
            cut = marked.rfind("+")
        if cut > 0:
            marked = marked[:cut]
        marked = _INNER_UNDERSCORE.sub("", marked)
    return marked.lower()


def _own(lemma: str, part: str, shape: Iterable[str]) -> list[str]:
    own = [f"{name}[0]=y" for name in shape]
    for size in (3, 4):
        if len(lemma) >= size:
            own += (f"p{size}[0]={lemma[:size]}", f"s{size}[0]={lemma[-size:]}")
    if "-" in lemma:
        before, after = lemma.split("-", 1)
        own += (f"bdash[0]={before}", f"adash[0]={after}")
    own += (f"lem[0]={lemma}", f"pos[0]={part}")
    return own


@lru_cache(8_000)  # 5 kB each
def _describe(text: str, readings: tuple[Analysis, ...]) -> WordFeatures:
    shape = _shape(text)
    first = readings[0] if readings else Analysis(text, "", "", "")
    parts = _root_parts(first.root)
    lemma = _lemma(first, parts, text)
    part = "_" + "|".join(sorted({each.part_of_speech for each in readings})) + "_"
    proper = len(readings) == 1 and first.part_of_speech == "H"
    sign = ["pun"] if part == "_Z_" else []
    own = _own(lemma, part, [*shape, *sign])
    last = parts[-1].lower() if len(parts) > 1 else ""
    if last:
        own += (f"pref[0]={parts[0].lower()}", f"post[0]={last}")
    case = first.form.split(" ")[1:2]
    own += [f"case[0]={each}" for each in case]
    endings = sorted({each.ending for each in readings})
    if endings not in ([], [""], ["0"]):
        own.append("end[0]=" + "|".join(endings))
    flags = [name for name in (*shape, *sign) if name in _FOR_NEIGHBOURS or name == "pun"] + ["prop"] * proper
    values = [("lem", lemma), ("pos", part)]
    if "-" in lemma:
        values.append(("adash", lemma.split("-", 1)[1]))
    if last:
        values.append(("post", last))
    shared = tuple(
        tuple([f"{name}[{at}]=y" for name in flags] + [f"{name}[{at}]={value}" for name, value in values])
        for at in _OFFSETS
    )
    return WordFeatures(lemma, part, proper, "iu" in shape, tuple(own), shared)


def _root_parts(root: str) -> list[str]:
    if root in ("_", "-", "+", "="):
        return [root]
    return [part.replace("+", "").replace("=", "") for group in root.split("-") for part in group.split("_")]


def _mark_known(tokens: Sequence[_TextWord], gazetteer: Gazetteer) -> None:
    """Mark the words of phrases that are in the gazetteer."""
    for at, token in enumerate(tokens):
        if not token.word.capital:
            continue
        phrase = ""
        for end in range(at, min(at + MAX_WORDS, len(tokens))):
            phrase = f"{phrase} {tokens[end].word.lemma}" if phrase else tokens[end].word.lemma
            labels = gazetteer.labels.get(phrase)
            if labels:
                for each in tokens[at : end + 1]:
                    each.gazetteer = labels


def _share_features(rows: Sequence[Sequence[_TextWord]], texts: Sequence[Sequence[str]]) -> None:
    """Share features among all occurrences of each word that has a capital somewhere inside a sentence."""
    capital = {
        token.word.lemma
        for row, words in zip(rows, texts, strict=True)
        for at, token in enumerate(row)
        if at and token.word.capital and words[at - 1] not in _QUOTES
    }
    around: dict[str, list[tuple[_TextWord | None, _TextWord, _TextWord | None]]] = defaultdict(list)
    for row in rows:
        for at, token in enumerate(row):
            if token.word.lemma in capital:
                after = row[at + 1] if at + 1 < len(row) else None
                around[token.word.lemma].append((row[at - 1] if at else None, token, after))
    for group in around.values():
        before = [each for each, _, _ in group if each is not None]
        after_all = [each for _, _, each in group if each is not None]
        extra = ["iuoc[0]=y"]
        extra += ["pprop[0]=y"] * any(each.word.proper for each in before)
        extra += ["nprop[0]=y"] * any(each.word.proper for each in after_all)
        extra += [f"pgaz[0]={label}" for label in sorted({label for each in before for label in each.gazetteer})]
        extra += [f"ngaz[0]={label}" for label in sorted({label for each in after_all for label in each.gazetteer})]
        shared = tuple(extra)
        for _, token, _ in group:
            token.extra = shared


def _pair_features(token: _TextWord, neighbour: _TextWord, at: int) -> list[str]:
    """Return the features of a word together with its neighbour at ``at``.

    Only in the gazetteer's pair does a neighbour before the word come first.
    """
    mine, theirs = token.word, neighbour.word
    pair = [
        f"lem[0]|lem[{at}]={mine.lemma}|{theirs.lemma}",
        f"pos[0]|pos[{at}]={mine.part}|{theirs.part}",
    ]
    if mine.capital and theirs.capital:
        pair.append(f"iu[0]|iu[{at}]=y|y")
    if token.gazetteer and neighbour.gazetteer:
        if at < 0:
            pair += [f"gaz[-1]|gaz[0]={a}|{b}" for a in neighbour.gazetteer for b in token.gazetteer]
        else:
            pair += [f"gaz[0]|gaz[1]={a}|{b}" for a in token.gazetteer for b in neighbour.gazetteer]
    return pair


def _features(row: Sequence[_TextWord], at: int) -> list[str]:
    token = row[at]
    word_features = [*token.word.own, *token.extra]
    if token.first:
        word_features.append("fsnt[0]=y")
        if token.word.capital:
            word_features.append("iu[0]|fsnt[0]=y|y")
    word_features += [f"gaz[0]={label}" for label in token.gazetteer]
    size = len(row)
    for index, offset in enumerate(_OFFSETS):
        place = at + offset
        if 0 <= place < size:
            neighbour = row[place]
            word_features += neighbour.word.to_neighbours[index]
            if neighbour.first:
                word_features.append(f"fsnt[{offset}]=y")
            if neighbour.gazetteer:
                word_features += [f"gaz[{offset}]={label}" for label in neighbour.gazetteer]
            if offset in (-1, 1):
                word_features += _pair_features(token, neighbour, offset)
    return word_features


def features(
    texts: Sequence[Sequence[str]], readings: Sequence[Sequence[tuple[Analysis, ...]]], gazetteer: Gazetteer
) -> list[list[list[str]]]:
    """Return the features of each word of each sentence; some depend on the other sentences of the text."""
    rows = [
        [
            _TextWord(_describe(word, analysis), at == 0)
            for at, (word, analysis) in enumerate(zip(words, analyses, strict=True))
        ]
        for words, analyses in zip(texts, readings, strict=True)
    ]
    _mark_known([token for row in rows for token in row], gazetteer)
    _share_features(rows, texts)
    return [[_features(row, at) for at in range(len(row))] for row in rows]
