"""Gold corpora: texts with the names that people marked in them. They are not part of the project."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

KINDS = {"PER": "PER", "ORG": "ORG", "LOC": "LOC", "GPE": "LOC"}
_NO_SPACE_BEFORE = frozenset(",.;:!?)]}%…") | {"...", "'s", "’s", "n't", "'re", "'ve", "'ll", "'d", "'m"}
_NO_SPACE_AFTER = frozenset("([{„")

Gold = tuple[int, int, str]  # start and end in characters, half-open, and PER, ORG or LOC


class CorpusMissing(Exception):
    """The corpora are not where they should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldText:
    """A text with its names."""

    text: str
    names: tuple[Gold, ...]
    words: int


def corpora_folder() -> Path:
    """Where the corpora are: ``REHI_CORPORA``, or beside the project."""
    given = os.environ.get("REHI_CORPORA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "corpora"
    if not folder.is_dir():
        raise CorpusMissing(f"there are no corpora in {folder}: set REHI_CORPORA to the folder that holds 09-ner")
    return folder


def corpus_file(name: str) -> Path:
    """A file or folder of the corpora."""
    path = corpora_folder() / name
    if not path.exists():
        raise CorpusMissing(f"the corpora lack {name} (looked in {path.parent})")
    return path


def digest(paths: Sequence[Path]) -> str:
    """SHA-256 over the files' contents, in the given order."""
    total = hashlib.sha256()
    for path in paths:
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def join(sentences: Sequence[Sequence[tuple[str, str]]]) -> GoldText:
    """A text written again from its sentences of (word, label); one sentence on a line."""
    text, names, words = "", [], 0
    for sentence in sentences:
        open_kind, open_start, quoted = "", 0, False
        for at, (word, label) in enumerate(sentence):
            glue = at == 0 or word in _NO_SPACE_BEFORE or sentence[at - 1][0] in _NO_SPACE_AFTER
            if word == '"':
                glue, quoted = glue or quoted, not quoted
            elif at and sentence[at - 1][0] == '"':
                glue = glue or quoted
            end = len(text)
            text += word if glue else " " + word
            kind = KINDS.get(label[2:], "")
            if open_kind and (label[:2] != "I-" or kind != open_kind):
                names.append((open_start, end, open_kind))
                open_kind = ""
            if kind and not open_kind:
                open_kind, open_start = kind, len(text) - len(word)
        if open_kind:
            names.append((open_start, len(text), open_kind))
        text += "\n"
        words += len(sentence)
    return GoldText(text=text, names=tuple(names), words=words)


def estner(path: Path) -> list[list[list[tuple[str, str]]]]:
    """The documents of an EstNER file, as sentences of (word, label of the outermost name)."""
    documents = json.loads(path.read_text(encoding="utf-8"))["documents"]
    return [
        [[(word["word"], word["ner_1"]) for word in sentence["words"]] for sentence in document["sentences"]]
        for document in documents
    ]


def iob2(path: Path) -> list[list[list[tuple[str, str]]]]:
    """The documents of a UniversalNER file."""
    documents: list[list[list[tuple[str, str]]]] = []
    sentence: list[tuple[str, str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# newdoc") or not documents:
            documents.append([])
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) >= 3:
            sentence.append((fields[1], fields[2]))
        elif sentence:
            documents[-1].append(sentence)
            sentence = []
    if sentence:
        documents[-1].append(sentence)
    return [document for document in documents if document]


def multileg(paths: Sequence[Path]) -> Iterator[GoldText]:
    """The documents of MultiLeg: a line is a paragraph with its names by offsets.

    MultiLeg counts an English article as part of a name, the other corpora don't: here it is left out.
    """
    for path in paths:
        text, names = "", []
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            base = len(text)
            for start, end, kind in row["label"]:
                if kind in KINDS:
                    article = 4 if row["text"][start : start + 4].lower() == "the " and end - start > 4 else 0
                    names.append((base + start + article, base + end, KINDS[kind]))
            text += row["text"] + "\n\n"
        yield GoldText(text=text, names=tuple(sorted(names)), words=len(text.split()))
