"""Consistency: names of one text are found everywhere in it, and with the same kind.

A name that was found once is found wherever it stands in the text, inflected or by its last word alone ("Katrin Paio"
and later "Paiole"), and it is of the same kind everywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence, Set

from rehi.languages.kinds import NameKind
from rehi.languages.sentences import Token
from rehi.languages.spans import Span, without_overlaps, words_of

MAX_WORDS = 6  # longer names are not looked for again
MIN_LETTERS = 3

Forms = Callable[[str], frozenset[str]]  # the basic forms, lower-case, that a word may have
_Prefix = tuple[str, ...]


def agree(spans: Sequence[Span], tokens: Sequence[Token], forms: Forms) -> list[Span]:
    """Return the spans, each with the kind that a clear majority of the spans of the same name has."""
    votes: dict[tuple[_Prefix, str], Counter[NameKind]] = defaultdict(Counter)
    for span in spans:
        *before, last = words_of(span, tokens)
        for form in forms(last):
            votes[tuple(before), form][span.kind] += 1
    agreed: list[Span] = []
    for span in spans:
        *before, last = words_of(span, tokens)
        # Sorted, for the order of a set is another in each process, and equal tallies need not agree.
        tally = max((votes[tuple(before), form] for form in sorted(forms(last))), key=lambda each: each.total())
        kind, count = tally.most_common(1)[0]
        agreed.append(span._replace(kind=kind) if count > 2 * tally[span.kind] else span)
    return agreed


def _known(spans: Sequence[Span], tokens: Sequence[Token], forms: Forms) -> dict[_Prefix, dict[str, NameKind]]:
    known: dict[_Prefix, dict[str, NameKind]] = defaultdict(dict)
    counts: Counter[str] = Counter()
    for span in spans:
        if span.end - span.first > MAX_WORDS:
            continue
        *before, last = words_of(span, tokens)
        alone = span.end - span.first == 1 or (span.kind is NameKind.PERSON and last[1:].islower())
        for form in forms(last):
            known[tuple(before)].setdefault(form, span.kind)
            if alone and len(last) >= MIN_LETTERS:
                known[()].setdefault(form, span.kind)
                counts[form] += 1
    _drop_doubtful(known[()], counts, spans, tokens, forms)
    return known


def _drop_doubtful(
    known: dict[str, NameKind], counts: Counter[str], spans: Sequence[Span], tokens: Sequence[Token], forms: Forms
) -> None:
    """Remove single words that are outside of spans more often than inside: the model had its reasons."""
    taken = {at for span in spans for at in range(span.first, span.end)}
    for at, token in enumerate(tokens):
        if at not in taken and token.text[:1].isupper():
            counts.subtract(form for form in forms(token.text) if form in known)
    for form in [form for form in known if counts[form] < 0 or len(form) < MIN_LETTERS]:
        del known[form]


def spread(spans: Sequence[Span], tokens: Sequence[Token], forms: Forms, no_names: Set[int]) -> list[Span]:
    """Return the spans, and new ones where one of their names stands elsewhere in the text.

    ``no_names`` are the numbers of tokens at which no name may begin, as they are capital only at the start of a sentence.
    """
    if not spans:
        return []
    again: list[Span] = []
    known = _known(spans, tokens, forms)
    sizes = sorted({len(prefix) for prefix in known}, reverse=True)
    taken = {at for span in spans for at in range(span.first, span.end)}
    for first in range(len(tokens)):
        if first in taken or first in no_names or not tokens[first].text[:1].isupper():
            continue
        for size in sizes:
            last = first + size
            if last >= len(tokens) or not taken.isdisjoint(range(first, last + 1)):
                continue
            ends = known.get(tuple(token.text for token in tokens[first:last]), {})
            last_forms = sorted(forms(tokens[last].text)) if tokens[last].text[:1].isupper() else []
            kinds = [ends[form] for form in last_forms if form in ends]
            if kinds:
                again.append(Span(first, last + 1, kinds[0]))
                break
    return without_overlaps([*spans, *again])
