"""Readings: the text of a document or of any version, with what was understood of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import BoundedSemaphore
from typing import Annotated

from pydantic import Field

from rehi.app import House
from rehi.builtin import load_all
from rehi.errors import Busy, SettingsError
from rehi.model.codec import to_json
from rehi.model.document import Reading, Term
from rehi.model.version import Version
from rehi.operations.moments import parse_moment
from rehi.operations.parameters import DIGITS, LARGEST_ID, Moment, Url
from rehi.operations.retention import explain_pruned
from rehi.operations.versions import find_version

VersionNumber = Annotated[
    int, Field(ge=1, le=LARGEST_ID, description="The number of a version; the newest if it is left out."), DIGITS
]
At = Annotated[Moment, Field(description="The version that was valid then: 2026-03-01 (its end) or 2026-03-01T12:30Z.")]

_log = logging.getLogger(__name__)
_turns = BoundedSemaphore(8)  # readings at once, so that the other pages have threads left


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetView:
    """What a page shows of a facet."""

    name: str
    rows: Sequence[tuple[str, str]]  # labels with texts
    terms: Sequence[Term]


def get_text(house: House, *, url: Url, version: VersionNumber | None = None, at: At = "") -> Reading:
    """Return what is read from a version of a URL: its text, parts, tables, links and facets.

    A version that was never read, or not by today's recipe, is read now and kept as a reading.
    """
    return with_plain_facets(read_version(house, choose_version(house, url, version, at)))


def choose_version(house: House, url: str, number: int | None, at: str) -> Version:
    """Return the version of a number, or that of a moment, or the newest; SettingsError if both are given."""
    if at and number is not None:
        raise SettingsError("give either the number of a version or a moment", names=("version", "at"))
    return find_version(house, url, at=parse_moment(at) if at else None, number=number)


def read_version(house: House, version: Version) -> Reading:
    """Return what is read from a version; BodyPruned if a rule let its bytes go."""
    if version.dropped:
        raise explain_pruned(house, version.digest, version=f"version {version.number}")
    if not _turns.acquire(blocking=False):
        raise Busy("many texts are being read; ask again in a moment")
    try:
        return house.texts.of_version(version)
    finally:
        _turns.release()


def with_plain_facets(reading: Reading) -> Reading:
    """Return a reading whose facets are as their codecs write them, whoever brings them."""
    facets, plain, failures = load_all("facet"), {}, dict(reading.failures)
    for name, value in reading.facets.items():
        try:
            encoded = facets[name].encode(value)
            to_json(encoded)  # TypeError if JSON can't hold it
        except Exception as error:  # of an outsider's facet: it costs only itself
            failures[name] = _explain(name, error)
        else:
            plain[name] = encoded
    return replace(reading, facets=plain, failures=failures)


def view_facets(reading: Reading) -> tuple[Sequence[FacetView], Mapping[str, str]]:
    """Return what a page shows of each facet that has something to show, and of those that failed, why."""
    facets, views, failures = load_all("facet"), [], dict(reading.failures)
    for name, value in reading.facets.items():
        try:
            facet = facets[name]
            rows = tuple((str(label), str(text)) for label, text in facet.show(value))
            terms = tuple(Term(field=one.field, value=one.value) for one in facet.terms(value))
        except Exception as error:  # of an outsider's facet: the page shows the others
            failures[name] = _explain(name, error)
        else:
            views += [FacetView(name=name, rows=rows, terms=terms)] if rows or terms else []
    return views, failures


def _explain(name: str, error: Exception) -> str:
    _log.warning("the facet %s failed", name, exc_info=True)
    return f"{type(error).__name__}: {error}"
