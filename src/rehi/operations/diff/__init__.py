"""What is different between two versions of a URL, worked out in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Annotated

from pydantic import Field

from rehi.app import House
from rehi.compare import NamesDiff
from rehi.errors import Busy, ReadError
from rehi.operations.diff.request import MOST, diff_names, diff_versions, parse_choice
from rehi.operations.diff.result import VersionDiff
from rehi.operations.parameters import DIGITS, ShortText, Text, Url, readable_by

turns = BoundedSemaphore(8)  # comparisons that are under way or wait, of some 40 threads that there are for all pages

_Choice = Annotated[ShortText, readable_by(parse_choice)]
Old = Annotated[
    _Choice, Field(alias="from", description="The older version: its number, or a moment as in 2026-03-01.")
]
New = Annotated[_Choice, Field(alias="to", description="The newer version: its number, or a moment.")]
Key = Annotated[Text, Field(description="For tables: columns by which rows are known, as in country,year.")]


def get_diff(
    house: House,
    *,
    url: Url,
    old: Old = "",
    new: New = "",
    key: Key = "",
    names: Annotated[bool, Field(description="Whether to look for names that appeared or vanished.")] = False,
    blame: Annotated[bool, Field(description="For tables: since when each row has been as it is.")] = False,
    limit: Annotated[int, Field(ge=1, le=MOST, description="Lines, rows or values to show at most."), DIGITS] = MOST,
) -> VersionDiff:
    """Return what is different between two versions of a URL: the two newest, if none are named."""
    columns = [name.strip() for name in key.split(",") if name.strip()]
    with _turn():
        return diff_versions(house, url, old, new, key=columns, names=names, blame=blame, most=limit)


def get_name_diff(house: House, *, url: Url, old: Old = "", new: New = "") -> tuple[NamesDiff | None, list[str]]:
    """Return who is named in one of two versions only, with the notes that go with it."""
    with _turn():
        return diff_names(house, url, old, new)


@contextmanager
def _turn() -> Iterator[None]:
    """Take one of the few turns to compare, so that other pages keep their threads; Busy if there is none."""
    if not turns.acquire(blocking=False):
        raise Busy("many comparisons are under way; ask again in a moment")
    try:
        yield
    except ReadError as error:
        raise type(error)(f"the comparison was given up: {error}") from error
    finally:
        turns.release()
