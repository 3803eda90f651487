"""Parameters that many operations have: their types, their limits and what they mean.

What can be given as a text is checked by its type, so that it is refused with its name before anything is done. The text
itself is handed on: the command line gives texts to the same functions, which read them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from rehi.errors import UserError
from rehi.operations.moments import parse_moment
from rehi.sources import host_meant

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


def _check_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("string_too_short", "it is empty")
    return text


def readable_by(read: Callable[[str], object]) -> AfterValidator:
    """Return a validator that refuses what a function can't read, with the sentence of its error."""

    def check(text: str) -> str:
        try:
            read(text)
        except UserError as error:
            raise PydanticCustomError("unreadable", "{reason}", {"reason": str(error)}) from error
        return text

    return AfterValidator(check)


class SeveralLines:
    """Marks a text of several lines; all others hold no control characters."""


SEVERAL_LINES = SeveralLines()
NOT_BLANK = AfterValidator(_check_blank)  # what is given says something: only what is left out is not given
DIGITS = BeforeValidator(_check_digits)  # stands last, so that the limits are in the schema

Limit = Annotated[int, Field(ge=1, le=MAX_ROWS, description="How many rows to show at most."), DIGITS]
Offset = Annotated[int, Field(ge=0, le=10**12, description="How many rows to pass over."), DIGITS]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID), DIGITS]
SourceId = Annotated[int, Field(ge=1, le=LARGEST_ID, description="The number of a source."), DIGITS]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), NOT_BLANK]
LongText = Annotated[str, Field(min_length=1, max_length=LONGEST_URL), NOT_BLANK]
Url = Annotated[LongText, Field(description="The URL of a page or a file.")]
HostName = Annotated[Text, Field(description="A host, as in www.example.ee."), readable_by(host_meant)]
MediaTypeFilter = Annotated[
    Text, Field(alias="type", description="A media type, as in text/html, or image/ for all of a kind.")
]
ShortText = Annotated[str, Field(min_length=1, max_length=60), NOT_BLANK]
Moment = Annotated[ShortText, readable_by(parse_moment)]  # of a day, its end
Beginning = Annotated[ShortText, readable_by(partial(parse_moment, end=False))]
Since = Annotated[
    Beginning, Field(description="Only what was there then or later: 2026-03-01, 2026-03-01T12:30Z or digits.")
]
Until = Annotated[Moment, Field(description="Only what was there then or before; a day means its end.")]
