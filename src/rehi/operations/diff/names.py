"""Changes of names: the people, organisations and places that only one of two versions mentions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rehi.compare import NamesDiff, compare_names, compare_texts, find_standing, split_lines
from rehi.errors import ReadError

if TYPE_CHECKING:
    from rehi.model.document import Document
    from rehi.model.entity import Identity
    from rehi.operations.diff.body import ParsedBody

LOOKED_AT = (
    200_000  # characters of a text in which all names are looked for, some 3 s; in a longer one where it changed
)
MOST = 1_000  # names that are shown


def compare_named_entities(old: ParsedBody, new: ParsedBody) -> tuple[NamesDiff | None, list[str]]:
    """Return the names, and the notes that go with them; None if there is no text to look at."""
    try:
        first, second = old.document, new.document
    except ReadError as error:
        return None, [f"No names were looked for: {error}."]
    if max(len(first.text), len(second.text)) <= LOOKED_AT:
        return _checked(compare_names(_named(first), _named(second)), first.text, second.text), []
    changes = compare_texts(split_lines(first.text), split_lines(second.text)).changes
    before = "\n\n".join(line for change in changes for line in change.old)[:LOOKED_AT]
    after = "\n\n".join(line for change in changes for line in change.new)[:LOOKED_AT]
    names = compare_names(_named(replace(first, text=before)), _named(replace(second, text=after)))
    return _checked(names, first.text, second.text), [
        "The texts are long, so names were looked for only where they changed."
    ]


def _named(document: Document) -> tuple[Identity, ...]:
    from rehi.enrich import enrich
    from rehi.link import link

    return link(enrich(document).get("names", ()))


def _checked(names: NamesDiff, old: str, new: str) -> NamesDiff:
    """Return names without those that stand in the other text too, taken for something else; no more than are shown."""
    appeared, vanished = _absent(names.appeared, old), _absent(names.vanished, new)
    return NamesDiff(
        appeared=appeared[:MOST],
        vanished=vanished[:MOST],
        stayed=names.stayed + len(names.appeared) + len(names.vanished) - len(appeared) - len(vanished),
    )


def _absent(identities: tuple[Identity, ...], text: str) -> tuple[Identity, ...]:
    standing = find_standing((identity.name for identity in identities), text)
    return tuple(identity for identity in identities if identity.name not in standing)
