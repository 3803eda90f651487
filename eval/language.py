"""Languages: accuracy of identification by length of the text, on the Declaration of Human Rights."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from eval.corpora import corpus_file, digest
from eval.report import floors, result, table
from rehi.enrich.language import MIN_LETTERS, identify

UDHR = "09-langid/nltk+nltk_data/packages/corpora/udhr2.zip"
LENGTHS = (20, 50, 100, 300)
TARGET = "accuracy at each length at its floor"

# The languages of Europe that the model knows, by the names of their files.
LANGUAGES = {
    "bul": "bg", "ces": "cs", "cym": "cy", "dan": "da", "deu": "de", "ell_monotonic": "el", "eng": "en", "est": "et",
    "eus": "eu", "fin": "fi", "fra": "fr", "gle": "ga", "hrv": "hr", "hun": "hu", "isl": "is", "ita": "it", "lav": "lv",
    "lit": "lt", "mlt": "mt", "nld": "nl", "pol": "pl", "por_PT": "pt", "ron": "ro", "rus": "ru", "slk": "sk",
    "slv": "sl", "spa": "es", "swe": "sv", "tur": "tr", "ukr": "uk",
}  # fmt: skip


def _pieces(text: str, length: int) -> Iterator[str]:
    """Pieces of whole words, about as long as wanted; at most 60 of them."""
    piece, made = "", 0
    for word in text.split():
        piece = f"{piece} {word}" if piece else word
        if len(piece) >= length:
            yield piece
            piece, made = "", made + 1
            if made == 60:
                return


def texts(path: Path) -> dict[str, str]:
    """The Declaration by language, without its heading."""
    by_code: dict[str, str] = {}
    with zipfile.ZipFile(path) as archive:
        names = {Path(name).stem: name for name in archive.namelist()}
        for stem, code in LANGUAGES.items():
            if stem in names:
                by_code[code] = archive.read(names[stem]).decode("utf-8").split("---", 1)[-1]
    return by_code


def _accuracy(documents: dict[str, str], length: int, guess: Callable[[str], str]) -> tuple[float, float]:
    right = count = 0
    begun = time.process_time()
    for code, text in documents.items():
        for piece in _pieces(text, length):
            count += 1
            right += guess(piece) == code
    return right / max(1, count), (time.process_time() - begun) / max(1, count)


def evaluate() -> bool:
    """Print the table and the result; whether all is as good as it should be."""
    path = corpus_file(UDHR)
    pinned = floors("language")
    documents = texts(path)
    identify("See on lause, mis laeb mudeli.")
    rows: list[list[object]] = []
    ours: dict[str, object] = {}
    faults = (
        []
        if digest([path]) == pinned["corpus"]["sha256"]
        else ["the corpus is not the one the floors were pinned with"]
    )
    for length in LENGTHS:
        got, cost = _accuracy(documents, length, identify)
        floor = float(pinned["accuracy"][str(length)])
        rows.append([length, got, floor, cost * 1e6])
        ours[str(length)] = round(got, 4)
        if got < floor:
            faults.append(f"{length} characters: {got:.4f} is below the floor {floor}")
    print(f"{len(documents)} languages; texts of fewer than {MIN_LETTERS} letters are left undecided")
    print(table(("characters", "accuracy", "floor", "µs"), rows))
    print(*(f"missed: {fault}" for fault in faults), sep="\n", end="\n" if faults else "")
    # No peer: simplemma's detector loads a dictionary per language and needs minutes for these texts.
    settings = "texts of the corpus by length; CPU time; no peer"
    print(result("language", target=TARGET, settings=settings, missed=faults, ours=ours, peers={}, ratio=None))
    return not faults
