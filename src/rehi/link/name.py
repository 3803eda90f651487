"""The name by which an entity is called, of all that documents use for it, and its slug, as it stands in an identifier."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from hashlib import sha256

from rehi.model.entity import Form

LONGEST = 100  # characters; an identifier should fit on a line
_DIGEST = 16  # hexadecimal digits that tell apart two long names with one beginning
_PLAIN = re.compile(r"[^a-z0-9]+")


def best_name(names: Iterable[Form]) -> Form:
    """Return the form to show: not in capitals throughout nor in small letters, with few odd capitals.

    The choice depends on the set of names alone, never on their order or number, so that it is the same whoever makes it.
    """
    return min(
        names,
        key=lambda name: (*oddity(name.text), name.text, not (name.given or name.family), name.given, name.family),
    )


def oddity(text: str) -> tuple[bool, int]:
    """Return how unlike a name a text is written: all in one case, and how many letters have the wrong one."""
    words = text.split()
    shouted = text in (text.upper(), text.lower())
    odd = sum(not word[0].isupper() for word in words) + sum(map(str.isupper, "".join(word[1:] for word in words)))
    return shouted, odd


def slug(name: str) -> str:
    """Return the name in lower case, its letters and digits kept and all else a hyphen; empty if it has neither.

    Letters stay as they are written (``Võru`` is ``võru``, not ``voru``), so that different names stay apart.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    parts = _PLAIN.sub("-", folded) if folded.isascii() else _join_words(folded)
    whole = parts.strip("-")
    if len(whole) <= LONGEST:
        return whole
    digest = sha256(whole.encode()).hexdigest()[:_DIGEST]
    return f"{whole[: LONGEST - _DIGEST - 1].rstrip('-')}-{digest}"


def _join_words(folded: str) -> str:
    kept: list[str] = []
    for char in folded:
        group = unicodedata.category(char)
        if group[0] in "LN":
            kept.append(char)
        elif group[0] == "M":  # a vowel sign or accent belongs to the letter before it
            if kept and kept[-1] != "-":
                kept.append(char)
        elif group not in ("Cf", "Cs") and kept and kept[-1] != "-":  # a soft hyphen or a joiner separates nothing
            kept.append("-")
    return "".join(kept)
