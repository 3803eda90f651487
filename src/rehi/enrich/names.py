"""The names in a text: whole texts in one language, with passages in another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rehi.enrich.facet import SilentFacet
from rehi.enrich.language import identify
from rehi.languages import Language, language
from rehi.model.document import Document, Mention

if TYPE_CHECKING:
    from pyoxigraph import Triple

    from rehi.ports.graph import DescribedPage

MAX_MENTIONS = 20_000
MAX_TEXT = 2_000_000  # characters in which names are looked for: some 280,000 words, 30 s in Estonian
BLOCK = 200_000  # characters tagged at a time, so that memory does not grow with the text
PASSAGE = 200  # characters that a paragraph needs to have a language of its own
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


def _passages(text: str, code: str) -> Iterator[tuple[int, int, str]]:
    """Yield stretches of one language, paragraph by paragraph; neighbours in one language are one stretch."""
    begin, current = 0, code
    for start, end in pairwise((0, *(gap.end() for gap in _PARAGRAPH.finditer(text)), len(text))):
        own = code
        if end - start > PASSAGE:
            passage_code = identify(text[start:end], code)
            own = code if language(passage_code) is None else passage_code
        if own != current:
            if start > begin:
                yield begin, start, current
            begin, current = start, own
    yield begin, len(text), current


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a stretch in pieces that are not too long, cut at line ends where there are any."""
    while end - start > BLOCK:
        cut = text.rfind("\n", start + BLOCK // 2, start + BLOCK)
        if cut < 0:
            cut = text.rfind(" ", start + BLOCK // 2, start + BLOCK)
        cut = start + BLOCK if cut < 0 else cut + 1
        yield start, cut
        start = cut
    yield start, end


def find_names(text: str, code: str) -> tuple[Mention, ...]:
    """Return the names in a text whose language has this code, at most 20,000 of them, in its first two million characters."""
    mentions: list[Mention] = []
    if language(code) is None:
        return ()
    for start, end, own in _passages(text[:MAX_TEXT], code):
        speaker: Language | None = language(own)
        if speaker is None:
            continue
        for first, last in _blocks(text, start, end):
            names = speaker.mentions(text[first:last])
            mentions += (
                [replace(one, start=one.start + first, end=one.end + first) for one in names] if first else names
            )
            if len(mentions) >= MAX_MENTIONS:
                return tuple(mentions[:MAX_MENTIONS])
    return tuple(mentions)


class NamesFacet(SilentFacet):
    """The names in a document's text, with their places; which entities they are is found out by linking."""

    name = "names"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> tuple[Mention, ...]:
        """Look for names in the language that was found."""
        return find_names(document.text, facets["language"])

    def encode(self, value: tuple[Mention, ...]) -> list[dict[str, Any]]:
        """Return the mentions as plain values, each with its fields."""
        return [asdict(mention) for mention in value]

    def decode(self, data: list[dict[str, Any]], version: int) -> tuple[Mention, ...]:
        """Return the mentions of plain values; fields that a later version has added are passed over."""
        mentions = []
        for row in data:
            known = {name: item for name, item in row.items() if name in Mention.__dataclass_fields__}
            mentions.append(Mention(**{**known, "lemmas": tuple(row.get("lemmas", ()))}))
        return tuple(mentions)

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """Say which entities the page mentions now."""
        from pyoxigraph import NamedNode, Triple

        for key in page.description.mentions:
            yield Triple(
                page.mint("entity", key.kind, *key.path.split("/")),
                NamedNode("http://www.estner.ee/estnerd#mentionedAtSite"),
                page.iri,
            )


FACET = NamesFacet()
