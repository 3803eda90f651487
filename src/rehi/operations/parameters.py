"""Parameters that many operations have: their types, their limits and what they mean."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

ROWS = 50  # of a list, unless more are asked for
MAX_ROWS = 1_000
LARGEST_ID = 2**63 - 1
LONGEST_URL = 10_000
LONGEST_TEXT = 300
_WHOLE = re.compile(r"-?[0-9]{1,19}")


def _check_digits(value: object) -> object:
    """Refuse text that pydantic would read as a number though nobody writes numbers so: " 5", "+5", "1_000", "5.0"."""
    if isinstance(value, str) and not _WHOLE.fullmatch(value):
        raise PydanticCustomError("int_parsing", "a whole number is needed")
    return value


DIGITS = BeforeValidator(_check_digits)  # stands last, so that the limits are in the schema

Limit = Annotated[int, Field(ge=1, le=MAX_ROWS, description="How many rows to show at most."), DIGITS]
Offset = Annotated[int, Field(ge=0, le=10**12, description="How many rows to pass over."), DIGITS]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID), DIGITS]
SourceId = Annotated[int, Field(ge=1, le=LARGEST_ID, description="The number of a source."), DIGITS]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL, description="The URL of a page or a file.")]
HostName = Annotated[str, Field(max_length=LONGEST_TEXT, description="A host, as in www.example.ee.")]
MediaTypeFilter = Annotated[
    str,
    Field(
        alias="type", max_length=LONGEST_TEXT, description="A media type, as in text/html, or image/ for all of a kind."
    ),
]
Since = Annotated[
    str, Field(max_length=60, description="Only what was there then or later: 2026-03-01, 2026-03-01T12:30Z or digits.")
]
Until = Annotated[str, Field(max_length=60, description="Only what was there then or before; a day means its end.")]
