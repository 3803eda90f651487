"""Places that English texts often name: countries, regions and large cities."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

MAX_WORDS = 4


@cache
def places() -> frozenset[str]:
    """Return the names in lower case, words divided by one space, read once per process."""
    lines = files("rehi.languages").joinpath("en_places.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(name.strip().lower() for line in lines if not line.startswith("#") for name in line.split(","))
