"""What the package EstNLTK ships, used without importing it: its analyser vabamorf, its list of names, its model.

``import estnltk`` costs 2 s of CPU and 185 MB in every worker process, for layers and converters that tagging does
not need. The analyser (``estnltk.vabamorf``) imports in 10 ms when it is loaded by its path, under a name of our own.
"""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from rehi.errors import EngineError
from rehi.languages.people import is_given_name

MAX_WORDS = 3  # the longest phrase that is looked up in the gazetteer
_LEFT_OUT = "\tpeop\n"
_PRIVATE = "_rehi_vabamorf"
_PHONETIC = str.maketrans("", "", "~?]<")
_COMPOUND = str.maketrans("", "", "_+=")
_LONGEST = 100  # characters; a longer word is data


def package_file(path: str) -> Path:
    """Return a file of EstNLTK, which is not imported, given its path in the package; EngineError if it is not there."""
    spec = find_spec("estnltk")
    if spec is None or spec.origin is None:
        raise EngineError("Estonian names need the package estnltk: install it with `pip install estnltk`")
    file = Path(spec.origin).parent / path
    if not file.is_file():
        raise EngineError(f"estnltk lacks its file {file}: install it again")
    return file


class Analysis(NamedTuple):
    """One reading of a word."""

    root: str  # parts of a compound divided by "_": "linna_valitsus"
    ending: str
    part_of_speech: str  # "H" is a proper name
    form: str  # "sg g", as vabamorf writes it

    @property
    def lemma(self) -> str:
        """The basic form."""
        return self.root if self.root in ("_", "+", "=") else self.root.translate(_COMPOUND)


class AnalysedWord(NamedTuple):
    """A word with all its readings."""

    raw: Any  # the analyser's own object
    readings: tuple[Analysis, ...]


class Morphology:
    """The analyser with its newest lexicons, which gives the readings of words; one per process, as its library has global state.

    Analysing a word costs 57 µs and choosing among its analyses in the sentence 50 µs. Analyses of words without context
    are kept (12,000 of them), so that only the choice is paid for again: 9,000 words/s become 13,000 to 20,000. The result
    differs from analysing whole sentences in 9 of 32,890 words, all at the beginning of a sentence.
    """

    def __init__(self) -> None:
        home = package_file("vabamorf/__init__.py").parent
        self._library = _load_vabamorf(home)
        lexicons = sorted(path for path in (home / "dct").glob("*") if path.is_dir())
        if not lexicons:
            raise EngineError(f"estnltk in {home.parent} lacks its lexicons: install it again")
        newest = f"vabamorf/dct/{lexicons[-1].name}"
        analyser, disambiguator = package_file(f"{newest}/et.dct"), package_file(f"{newest}/et3.dct")
        self._analyser = self._library.Vabamorf(str(analyser), str(disambiguator))
        self.word = lru_cache(12_000)(self._analyse)

    def _analyse(self, word: str) -> AnalysedWord:
        """Return a word with all readings that it can have, whatever stands around it; kept as ``word``."""
        library = self._library
        analyses = self._analyser.analyze(library.StringVector([word[:_LONGEST]]), False, True, True, True, False)
        raw = list(analyses[0][1])
        return AnalysedWord(library.WordAnalysis(word[:_LONGEST], library.AnalysisVector(raw)), _readings(raw))

    def sentence(self, words: list[str]) -> list[tuple[Analysis, ...]]:
        """Return the readings of each word that fit the sentence; mostly one."""
        chosen = self._analyser.disambiguate(self._library.SentenceAnalysis([self.word(word).raw for word in words]))
        return [_readings(raw) for _, raw in chosen]


def _load_vabamorf(folder: Path) -> ModuleType:
    """Load the analyser's own module (a SWIG wrapper)."""
    spec = spec_from_file_location(_PRIVATE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise EngineError(f"the analyser in {folder} can't be loaded: install estnltk again")
    module = module_from_spec(spec)
    sys.modules[_PRIVATE] = module
    try:
        spec.loader.exec_module(module)
        return import_module(_PRIVATE + ".vabamorf")
    except ImportError as error:
        sys.modules.pop(_PRIVATE, None)
        raise EngineError(f"the analyser in {folder} does not work on this machine: {error}") from error


def _readings(raw: Any) -> tuple[Analysis, ...]:
    """Return the analyser's readings of a word, roots without marks of pronunciation unless made of nothing else."""
    return tuple(
        [Analysis(one.root.translate(_PHONETIC) or one.root, one.ending, one.partofspeech, one.form) for one in raw]
    )


@cache
def morphology() -> Morphology:
    """Return the analyser, loaded once per process (0.2 s, 22 MB)."""
    return Morphology()


class Gazetteer:
    """The names in lower case that the model was trained with, and the lists that hold each: "fac", "loc", "org", "per".

    Nine tenths of the 900,000 rows are full names of people all over the world. They are left out: without them the list
    loads in 0.25 s instead of 1.7 s, takes 8 MB instead of 180 MB, and the model finds names as well (F1 .8753 against
    .8730 on EstNER's development set, .6981 against .6981 on EstNER_new's).
    """

    def __init__(self, path: Path) -> None:
        self.labels: dict[str, tuple[str, ...]] = {}  # the lists that hold a phrase, in alphabetical order
        with path.open(encoding="utf-8") as rows:
            for row in rows:
                if row.endswith(_LEFT_OUT):
                    continue
                phrase, _, label = row.strip().rpartition("\t")
                known = self.labels.get(phrase, ())
                if phrase and label not in known:
                    self.labels[phrase] = tuple(sorted((*known, label)))

    def is_given_name(self, word: str) -> bool:
        """Whether a word is known as a given name."""
        return is_given_name(word) or "per" in self.labels.get(word.lower(), ())

    def is_place(self, phrase: str) -> bool:
        """Whether a phrase is known as the name of a place."""
        return "loc" in self.labels.get(phrase.lower(), ())


@cache
def gazetteer() -> Gazetteer:
    """Return the gazetteer, read once per process."""
    return Gazetteer(package_file("taggers/standard/ner/gazetteer/gazetteer.txt"))


@cache
def tagger() -> Any:
    """Return EstNLTK's model of names, loaded once per process (0.1 s, 40 MB)."""
    from pycrfsuite import Tagger

    model = Tagger()
    model.open(str(package_file("taggers/standard/ner/models/py3_default/model.bin")))
    return model
