"""A slug: a name as it stands in an identifier."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256

LONGEST = 100  # characters; an identifier should fit on a line
_DIGEST = 16  # hexadecimal digits that tell apart two long names with one beginning
_PLAIN = re.compile(r"[^a-z0-9]+")


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
