"""Basic forms of Estonian names: "Katrin Paiole" is Katrin Paio.

Only the last word of a name is inflected, with the adjectives that agree with it. Which of a word's readings is right is
often open ("Tamme" may be Tamm or Tamme), so all are kept, the most probable first; the whole text decides later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from rehi.languages.et_estnltk import Analysis, Gazetteer
from rehi.languages.et_words import KEPT_IN_GENITIVE
from rehi.languages.kinds import NameKind
from rehi.languages.spans import is_form
from rehi.languages.word_lists import word_list

# Endings that are rarely part of a name itself. The disambiguator takes an unknown name for a nominative too readily: "Paiole".
_CASE_ENDINGS = word_list("le ga lt st sse ks l s ni")
_VOWELS = frozenset("aeiouõäöüyаеёиоуыэюя")
_NAMELIKE = frozenset("HSAYGCUO")
_GENITIVE_AGREES = frozenset({"sg ter", "sg es", "sg ab", "sg kom", "pl ter", "pl es", "pl ab", "pl kom"})
MAX_FORMS = 4


class BasicForms(NamedTuple):
    """The possible basic forms of a name, the most probable first."""

    before: tuple[str, ...]  # the words before the last
    last: tuple[str, ...]  # the possible forms of the last word

    def name(self, last: str) -> str:
        """Return the whole name with this last word."""
        return " ".join((*self.before, last))


def _as_written(lemma: str, surface: str) -> str:
    """Return the lemma with the capitals of the text."""
    if len(surface) > 1 and surface.isupper() and not lemma.isupper():
        return lemma.upper()
    if surface[:1].isupper():
        return lemma[:1].upper() + lemma[1:]
    if surface[:1].islower():
        return lemma[:1].lower() + lemma[1:]
    return lemma


def _score(
    reading: Analysis, form: str, surface: str, kind: NameKind, known: Gazetteer, chosen: frozenset[str], company: bool
) -> float:
    score = 4.0 if reading.lemma.lower() in chosen else 0.0
    listed = known.is_place(form) if kind is NameKind.PLACE else known.is_given_name(form)
    score += 3.0 * (listed and kind is not NameKind.ORGANISATION)
    inflected = reading.ending in _CASE_ENDINGS and reading.lemma[-1:].lower() in _VOWELS
    if form != surface and inflected and surface.lower() in chosen:
        unknown = not (known.is_given_name(surface) or known.is_place(surface))
        score += 5.0 if unknown and (len(reading.ending) > 1 or kind is NameKind.PLACE) else 1.0
    if kind is NameKind.ORGANISATION and form == surface and reading.form == "sg n":
        score += 4.5 if company else 0.0
    if kind is NameKind.PLACE and reading.root.rsplit("_", 1)[-1].lower() in KEPT_IN_GENITIVE:
        score -= 8.0
    score += 0.5 * (reading.part_of_speech == "H")
    return score


def _agreeing(words: Sequence[str], in_context: Sequence[Sequence[Analysis]]) -> list[str]:
    """Return the words before the last one; adjectives that agree with it in their basic form."""
    before = list(words[:-1])
    forms = {each.form for each in in_context[-1] if each.form not in ("sg n", "pl n")}
    for at in range(len(before) - 1, -1, -1):
        readings = in_context[at]
        agreeing = [
            each
            for each in readings
            if each.part_of_speech in "ACO"
            and (each.form in forms or (each.form[3:] == "g" and forms & _GENITIVE_AGREES))
        ]
        if not agreeing or len(agreeing) < len(readings):
            break
        before[at] = _as_written(agreeing[0].lemma, before[at])
    return before


def basic_forms(
    words: Sequence[str],
    in_context: Sequence[Sequence[Analysis]],
    all_of_last: Sequence[Analysis],
    kind: NameKind,
    known: Gazetteer,
) -> BasicForms:
    """Return the possible basic forms of a name, given the readings of its words."""
    before = tuple(words[:-1]) if kind is NameKind.PERSON else tuple(_agreeing(words, in_context))
    surface = words[-1]
    if not surface.isalpha() and "-" not in surface:
        return BasicForms(before, (surface,))
    company = is_form(words[0])
    chosen = frozenset(each.lemma.lower() for each in in_context[-1] if each.part_of_speech in _NAMELIKE)
    scores: dict[str, float] = defaultdict(float)
    for reading in (*in_context[-1], *all_of_last):
        plural = kind is NameKind.ORGANISATION and reading.form == "pl n"  # "MTÜ Vanad Laevad" is its name
        form = surface if plural else _as_written(reading.lemma, surface)
        if reading.part_of_speech in _NAMELIKE and form and form[:1].isalpha():
            scores[form] = max(scores[form], _score(reading, form, surface, kind, known, chosen, company))
    ranked = sorted(scores, key=lambda form: -scores[form])
    return BasicForms(before, tuple(ranked[:MAX_FORMS]) or (surface,))


def rank_forms(basics: Sequence[tuple[NameKind, str, BasicForms]]) -> list[tuple[str, ...]]:
    """Return the forms of each name (kind, surface, forms), the most probable first, by all names of the text.

    The form comes first that explains the most of the different surfaces: beside "Mari Tamm" and "Mari Tammele", "Tamme" is Tamm.
    """
    explained: dict[tuple[NameKind, str, str], set[str]] = defaultdict(set)
    for kind, surface, basic in basics:
        context = "" if kind is NameKind.PERSON else " ".join(basic.before)
        for form in basic.last:
            explained[kind, context, form].add(surface.split()[-1] if kind is NameKind.PERSON else surface)
    settled: list[tuple[str, ...]] = []
    for kind, _, basic in basics:
        context = "" if kind is NameKind.PERSON else " ".join(basic.before)
        counts = {form: len(explained[kind, context, form]) for form in basic.last}
        settled.append(tuple(sorted(basic.last, key=lambda form: -counts[form])))
    return settled
