"""A request for a difference: two versions of a URL are chosen, and a worker process compares them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from rehi.app import House
from rehi.app.places import open_archive
from rehi.compare import NamesDiff
from rehi.errors import ComparisonError, NotFound, SettingsError
from rehi.model.version import Version
from rehi.operations.diff.blame import blame_rows
from rehi.operations.diff.body import ParsedBody, read_body
from rehi.operations.diff.methods import compare_bodies, cut, first_few, has_difference
from rehi.operations.diff.names import compare_named_entities
from rehi.operations.diff.result import DiffSide, VersionDiff
from rehi.operations.moments import digits_of, parse_moment
from rehi.operations.versions import history, kept_url

if TYPE_CHECKING:
    from rehi.archive import Archive

MOST = 10_000  # lines, rows or values in an answer for programs
LONGEST_NUMBER = 7  # digits; more are a moment


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRequest:
    """Which versions are to be compared, and how; it travels to a worker process."""

    open_archive: Callable[[], Archive]
    url: str
    old: Version
    new: Version
    max_text: int
    most: int = MOST
    key: tuple[str, ...] = ()
    names: bool = False
    earlier: tuple[Version, ...] | None = None  # before the new one, the latest first: for blame


def diff_versions(
    house: House,
    url: str,
    since: str = "",
    until: str = "",
    *,
    key: Sequence[str] = (),
    names: bool = False,
    blame: bool = False,
    most: int = MOST,
) -> VersionDiff:
    """Return what is different between two versions; each is a number or a moment, the two newest if neither is given."""
    versions = history(house, url)
    old, new = choose(versions, since, until, url=url)
    place = versions.index(new)
    request = DiffRequest(
        open_archive=_opener(house),
        url=kept_url(house, url),
        old=old,
        new=new,
        max_text=house.settings.work.max_text,
        most=most,
        key=tuple(key),
        names=names,
        earlier=tuple(reversed(versions[:place])) if blame else None,
    )
    _check_here(house, old, new)
    return house.readers.submit(compare_versions, request).result()


def diff_names(house: House, url: str, since: str = "", until: str = "") -> tuple[NamesDiff | None, list[str]]:
    """Return who is named in one of two versions only, with the notes that go with it."""
    old, new = choose(history(house, url), since, until, url=url)
    request = DiffRequest(
        open_archive=_opener(house), url=kept_url(house, url), old=old, new=new, max_text=house.settings.work.max_text
    )
    _check_here(house, old, new)
    return house.readers.submit(compare_version_names, request).result()


def choose(versions: Sequence[Version], since: str, until: str, *, url: str) -> tuple[Version, Version]:
    """Return the two that are meant, of versions in the order of time; one alone is compared with the newest."""
    if not since and not until:
        if len(versions) < 2:
            only = versions[0]
            raise NotFound(
                f"there is only one version of {url}, of {only.taken_at:%Y-%m-%d %H:%M:%S} UTC, "
                "so there is nothing to compare it with yet"
            )
        return versions[-2], versions[-1]
    newest = versions[-1]
    if not since:
        new = pick(versions, until, url=url)
        before = versions[: versions.index(new)]
        return (before[-1] if before else new), new
    return pick(versions, since, url=url), pick(versions, until, url=url) if until else newest


def pick(versions: Sequence[Version], given: str, *, url: str) -> Version:
    """Return the version of a number, or the one that was valid at a moment."""
    number, at = parse_choice(given)
    for version in versions:
        if version.number == number:
            return version
    if at is None:
        raise NotFound(f"there is no version {number} of {url}; `rehi versions` lists those that there are")
    valid = [version for version in versions if version.taken_at <= at]
    if not valid:
        first = versions[0]
        raise NotFound(
            f"nothing was kept of {url} by {at:%Y-%m-%d %H:%M:%S} UTC; "
            f"the first version is number {first.number}, of {first.taken_at:%Y-%m-%d %H:%M:%S}"
        )
    return valid[-1]


def parse_choice(given: str) -> tuple[int | None, datetime | None]:
    """Return the number and the moment that a text may mean: 2026 is both. ComparisonError if it is neither."""
    text = given.strip()
    is_number = text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER
    number = int(text) if is_number else None
    try:
        return number, parse_moment(text)
    except SettingsError as error:
        if is_number:
            return number, None
        raise ComparisonError(
            f"{given[:60]!r} is neither the number of a version nor a moment; "
            "give a number, a day as in 2026-03-01, or a time as in 2026-03-01T12:30"
        ) from error


def _check_here(house: House, *versions: Version) -> None:
    """Raise what is wrong with versions whose bytes are not here, before a process looks for them that can't tell whose they are."""
    for version in versions:
        if not version.dropped and not house.archive.holds(version.body):
            house.archive.shelf.open(version.body).close()


def _opener(house: House) -> Callable[[], Archive]:
    return partial(open_archive, house.archive_folder.resolve(), house.settings.archive)


# inside a worker ──────────────────────────────────────────────────────────────────────────────────────────────────────


def compare_versions(request: DiffRequest) -> VersionDiff:
    """Compare two versions as what they are."""
    gc.disable()  # nothing here goes in circles, and millions of cells would be looked through: 2.5 s instead of 1.5
    try:
        return _compare_versions(request)
    finally:
        gc.enable()


def compare_version_names(request: DiffRequest) -> tuple[NamesDiff | None, list[str]]:
    """Return which names appeared or vanished between two versions."""
    return compare_named_entities(*_read_both(request.open_archive(), request))


def _read_both(archive: Archive, request: DiffRequest) -> tuple[ParsedBody, ParsedBody]:
    old = read_body(archive, request.old, url=request.url, max_text=request.max_text)
    return old, read_body(archive, request.new, url=request.url, max_text=request.max_text)


def _compare_versions(request: DiffRequest) -> VersionDiff:
    archive = request.open_archive()
    old, new = _read_both(archive, request)
    differences = compare_bodies(old, new, key=request.key, tables_only=request.earlier is not None, most=request.most)
    identical = request.old.digest == request.new.digest
    if differences.tally and not identical and not has_difference(differences):
        differences.notes.append(
            f"The bytes differ, but all {differences.tally.unit} are the same: what changed is how they are written or marked up."
        )
    named, blamed = None, None
    if request.names:
        named, remarks = compare_named_entities(old, new)
        differences.notes += remarks
    if request.earlier is not None and differences.table is not None:
        rows, remarks = blame_rows(archive, new, differences.table.key.columns, request.earlier)
        differences.notes += remarks
        shown = (replace(row, cells=tuple(map(cut, row.cells))) for row in rows)
        blamed = first_few(shown, request.most, differences, lambda row: sum(map(len, row.cells)))
    return VersionDiff(
        url=request.url,
        kind=differences.kind,
        old=_side(old),
        new=_side(new),
        identical=identical,
        tally=differences.tally,
        lines=differences.lines,
        table=differences.table,
        tree=differences.tree,
        complete=differences.complete,
        names=named,
        blame=blamed,
        notes=tuple(differences.notes),
    )


def _side(content: ParsedBody) -> DiffSide:
    version = content.version
    return DiffSide(
        number=version.number,
        taken_at=version.taken_at,
        stamp=digits_of(version.taken_at),
        size=version.size,
        digest=version.digest,
        media_type=version.media_type,
        true_type=content.true_type,
    )
