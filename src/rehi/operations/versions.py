"""Versions: which version of a URL is meant, and how it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import BinaryIO

from rehi.app import House
from rehi.errors import ArchiveError, LiesElsewhere, NotFound
from rehi.model.capture import CaptureFilter
from rehi.model.version import Digest, RecordRef, Version
from rehi.operations.parameters import ROWS, Limit, Offset, Url
from rehi.operations.retention import explain_pruned
from rehi.sources import normalise

_history = attrgetter("taken_at", "number")  # numbers are the order of arrival, and an old crawl may come late


class Stored(StrEnum):
    """How the archive holds the bytes of a version."""

    WHOLE = "whole"
    DELTA = "delta"  # as what is different from an earlier one
    DUPLICATE = "duplicate"  # they lie in the record of another URL or version
    PRUNED = "dropped"  # by a rule
    ELSEWHERE = "elsewhere"  # the record lies with another worker
    MISSING = "missing"  # the record is nowhere, or can't be read


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """A version as a list shows it."""

    number: int
    taken_at: datetime
    size: int
    media_type: str
    status: int
    digest: Digest
    stored: Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionList:
    """A page of the versions of a URL, and how many there are in all."""

    url: str  # as it is kept
    total: int
    versions: Sequence[VersionRow]


def list_versions(house: House, *, url: Url, limit: Limit = ROWS, offset: Offset = 0) -> VersionList:
    """List the versions of a URL, the newest first, with how each is stored."""
    kept = find_url(house, url)
    newest_first = history(house, kept)[::-1]
    part = newest_first[offset : offset + limit]
    return VersionList(url=kept, total=len(newest_first), versions=list(list_rows(house, part)))


def find_url(house: House, given: str) -> str:
    """Return a URL as it is kept here, of which there are captures; NotFound says what else may be meant."""
    for url in spellings(given, bare_query=True):
        if next(house.catalogue.captures(CaptureFilter(url=url), limit=1), None) is not None:
            return url
    return kept_url(house, given, bare_query=True)


def find_version(house: House, url: str, *, at: datetime | None = None, number: int | None = None) -> Version:
    """Return the newest version of a URL, the one that was valid at a moment, or that of a number; NotFound says what there is."""
    versions = history(house, url)
    if number is not None:
        return _numbered(versions, number, url)
    if at is None:
        return versions[-1]
    valid = [version for version in versions if version.taken_at <= at]
    if not valid:
        first = versions[0]
        raise NotFound(
            f"nothing was kept of {url} by {at:%Y-%m-%d %H:%M:%S} UTC; "
            f"the first version is of {first.taken_at:%Y-%m-%d %H:%M:%S} (--version {first.number})"
        )
    return valid[-1]


def history(house: House, url: str) -> list[Version]:
    """Return all versions in the order in which they were valid; NotFound says what else may be meant."""
    return sorted(house.catalogue.versions(kept_url(house, url)), key=_history)


def open_version(house: House, version: Version) -> BinaryIO:
    """Return the bytes of a version as they came; BodyPruned if a rule let them go."""
    if version.dropped:
        raise explain_pruned(house, version.digest, version=f"version {version.number}")
    return house.archive.open_body(version.body)


def list_rows(house: House, versions: Iterable[Version]) -> Iterator[VersionRow]:
    """Yield versions with how each is stored, which their records say."""
    for version in versions:
        yield VersionRow(
            number=version.number,
            taken_at=version.taken_at,
            size=version.size,
            media_type=version.media_type,
            status=version.status,
            digest=version.digest,
            stored=_stored(house, version),
        )


def kept_url(house: House, given: str, *, bare_query: bool = False) -> str:
    """Return the URL as it is kept here, of which there are versions; NotFound says what else may be meant.

    ``bare_query`` is for addresses that can't tell whether the URL ended with a question mark.
    """
    for url in spellings(given, bare_query=bare_query):
        if _has_versions(house, url):
            return url
    raise NotFound(_explain(house, given))


def spellings(given: str, *, bare_query: bool = False) -> list[str]:
    """Return how a URL that was given may be kept: as it is, in its normal form, and with a scheme if it has none."""
    text = given.strip()
    written = [text] if "://" in text else [f"http://{text}", f"https://{text}"]
    if bare_query:
        written += [f"{url}?" for url in written if "?" not in url]
    return _unique(url for one in written for url in (one, normalise(one)) if url)


def near(house: House, url: str) -> list[str]:
    """Return other URLs with versions that may be meant: where it redirects to, and other ways to write it."""
    return [other for other in _unique(_neighbours(house, url)) if other != url and _has_versions(house, other)]


def redirect_of(house: House, url: str) -> str:
    """Return where a URL last redirected to; empty if it didn't, or is not known."""
    try:
        return house.catalogue.document(url).redirect_to
    except NotFound:
        return ""


def _numbered(versions: Sequence[Version], number: int, url: str) -> Version:
    for version in versions:
        if version.number == number:
            return version
    numbers = sorted(version.number for version in versions)
    available = (
        f"1 to {numbers[-1]}" if len(numbers) > 1 and numbers[-1] == len(numbers) else ", ".join(map(str, numbers[:20]))
    )
    raise NotFound(f"there is no version {number} of {url}; there are {available}" if len(versions) > 1 else
                   f"there is no version {number} of {url}; there is only {available}")  # fmt: skip


def _stored(house: House, version: Version) -> Stored:
    if version.dropped:
        return Stored.PRUNED
    try:
        kind = kind_of(house, version.body)
    except LiesElsewhere:
        return Stored.ELSEWHERE
    except ArchiveError:
        return Stored.MISSING
    if version.body != version.record:
        return Stored.DUPLICATE
    return Stored.DELTA if kind == "delta" else Stored.WHOLE


def kind_of(house: House, ref: RecordRef) -> str:
    """Return the type of a record."""
    return house.archive.fields_of(ref).kind


def _has_versions(house: House, url: str) -> bool:
    try:
        return house.catalogue.document(url).versions > 0
    except NotFound:
        return False


def _explain(house: House, given: str) -> str:
    url = next(iter(spellings(given)), given)
    for spelled in spellings(given):
        if target := redirect_of(house, spelled):
            return f"{spelled} redirects to {target}, and no version of its own is kept; ask for that one"
    if others := near(house, url):
        return f"nothing is kept of {given}; perhaps you mean {' or '.join(others[:3])}"
    for spelled in spellings(given):
        try:
            state = house.catalogue.document(spelled).state
        except NotFound:
            continue
        return f"{spelled} is known, but no version of it is kept yet: its state is {state!r}"
    return f"nothing is kept of {given}; `rehi add` takes in what is to be visited"


def _neighbours(house: House, url: str) -> Iterator[str]:
    yield redirect_of(house, url)
    base, mark, query = url.partition("?")
    slashed = f"{base[:-1] if base.endswith('/') else base + '/'}{mark}{query}"
    for one in (url, slashed):
        yield one
        scheme, _, rest = one.partition("://")
        other = {"http": "https", "https": "http"}.get(scheme, scheme)
        yield f"{other}://{rest}"
        turned = rest.removeprefix("www.") if rest.startswith("www.") else f"www.{rest}"
        yield f"{scheme}://{turned}"
        yield f"{other}://{turned}"


def _unique(urls: Iterable[str]) -> list[str]:
    return [url for url in dict.fromkeys(urls) if url]
