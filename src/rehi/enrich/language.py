"""The language of a text: identified by its letters, or as it is declared where they are too few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from rehi.enrich.facet import SilentFacet
from rehi.model.document import Document

if TYPE_CHECKING:
    from pyoxigraph import Triple

    from rehi.ports.graph import DescribedPage

UNKNOWN = "und"
# Measured on the Declaration of Human Rights in 30 languages of Europe: texts of 20 characters 85 % right, 13 % left open,
# 2 % wrong; of 100 characters 98 % right and .4 % wrong. At a probability of .8 nothing is wrong, but a third is open.
MIN_LETTERS = 15  # a text with fewer is not identified
ENOUGH = 0.5  # normalised probability, below which a language is not taken for identified
# Characters from each of the beginning, the middle and the end. A glance takes 0.3 ms, a closer look up to 4.4 ms.
# Of 1,309 pages a glance this sure of itself decided 97 %, all as the closer look would have; at .9 one otherwise.
_GLANCE, _SURE = 150, 0.95
_SAMPLE = 3_000  # more change nothing


@cache
def _identifier() -> Any:
    """Return py3langid's model, loaded once per process (0.25 s)."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _primary(declared: str) -> str:
    """Return the two or three letters of a declared tag ("et-EE" is "et"); empty if it is none."""
    code = declared.strip().replace("_", "-").split("-")[0].lower()
    return code if code.isascii() and code.isalpha() and len(code) in (2, 3) else ""


def identify(text: str, declared: str = "") -> str:
    """Return the code of a text's language; the declared one counts only if the text can't be identified."""
    if len(text) > 3 * _GLANCE:
        code, probability = _classify(text, _GLANCE)
        if probability >= _SURE:
            return code
    code, probability = _classify(text, _SAMPLE)
    return code if probability >= ENOUGH else _primary(declared) or UNKNOWN


def _classify(text: str, size: int) -> tuple[str, float]:
    """Return the most probable language by ``size`` characters from each third of a text, and its probability."""
    middle = len(text) // 2
    pieces = (text[:size], text[middle : middle + size], text[-size:])
    sample = text if len(text) <= 3 * size else "\n".join(pieces)
    if sum(map(str.isalpha, sample)) < MIN_LETTERS:
        return UNKNOWN, 0.0
    code, probability = _identifier().classify(sample.encode("utf-8", "replace").decode("utf-8"))
    return str(code), float(probability)


class LanguageFacet(SilentFacet):
    """The code of the language that a document's text is in."""

    name = "language"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> str:
        """Look at the text, and at what the document declares where the text can't tell."""
        return identify(document.text, document.language)

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """Say in which language the page is."""
        from pyoxigraph import Literal, NamedNode, Triple

        facts = page.description.document
        if facts is not None and facts.language and facts.language != UNKNOWN:
            yield Triple(page.iri, NamedNode("http://purl.org/dc/terms/language"), Literal(facts.language))


FACET = LanguageFacet()
