"""Sources: a file, an upload or an address becomes a source, and what it names becomes resources."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rehi.app import House, utc_now
from rehi.builtin import find, load_all
from rehi.errors import DataFolderBusy, SourceError
from rehi.model.source import UNRECOGNISED, Source, SourceChange, SourceState
from rehi.operations.parameters import LONGEST_TEXT, LONGEST_URL, SourceId, readable_by
from rehi.operations.source_rows import SourceRow, list_rows, make_row
from rehi.operations.status import RunningService
from rehi.sources import normalise, recognise_file, sample_file
from rehi.sources.links import parse_follow
from rehi.sources.recognition import PAGE, find_crawls

WARC, WARC_IN_PLACE = "warc", "warc-in-place"


def check_kind(kind: str) -> None:
    """Raise SourceError if there is no such kind of source; an empty one is found out."""
    if kind != UNRECOGNISED and (kind == WARC_IN_PLACE or find("source", kind) is None):
        kinds = ", ".join(sorted(name for name in load_all("source") if name != WARC_IN_PLACE))
        raise SourceError(f"{kind[:80]!r} is no kind of source; there are {kinds}")


def read_address(given: str) -> str:
    """Return an address that can be visited, as it is kept; SourceError if it is none."""
    url = normalise(given)
    if url is None or not url.startswith(("http://", "https://")):
        raise SourceError(f"{given} is not a URL that can be visited; it must begin with http:// or https://")
    return url


KindName = Annotated[
    str,
    Field(
        max_length=LONGEST_TEXT,
        description='What lies there, as in "url-list" or "crawl-log"; empty: its declared type tells, else it is a page.',
    ),
    readable_by(check_kind),
]
FollowText = Annotated[
    str,
    Field(
        max_length=500, description='"same host", "same folder, depth 3", "host example.ee, path /data/*"; empty: none.'
    ),
    readable_by(parse_follow),
]


def list_sources(house: House) -> Sequence[SourceRow]:
    """List the sources with their statistics, the newest first."""
    return list_rows(house, house.catalogue.sources())


def get_source(house: House, *, source_id: SourceId) -> SourceRow:
    """Return one source with its statistics."""
    return make_row(house, house.catalogue.source(source_id))


def add_source(
    service: RunningService,
    *,
    source: Annotated[
        str,
        Field(pattern="^https?://", max_length=LONGEST_URL, description="The address of a log, a list or a page."),
        readable_by(read_address),
    ],
    kind: KindName = UNRECOGNISED,
    start: Annotated[bool, Field(description="Whether to begin at once.")] = True,
) -> SourceRow:
    """Add a source by its address; what lies there is visited like any page, and read when that has been done."""
    entered = enter(service.house, source, kind=kind)
    if start:
        service.start_source(entered.id)
    return make_row(service.house, service.house.catalogue.source(entered.id))


def start_source(service: RunningService, *, source_id: SourceId) -> SourceRow:
    """Have a waiting source taken in and harvested."""
    service.start_source(source_id)
    return make_row(service.house, service.house.catalogue.source(source_id))


def set_follow(house: House, *, source_id: SourceId, follow: FollowText) -> SourceRow:
    """Say which links of a source's documents become resources of it, those that were read before too."""
    return make_row(house, order_follow(house, source_id, follow))


def order_follow(house: House, source_id: int, follow: str) -> Source:
    """Change which links are followed; SettingsError if the rule can't be understood."""
    return house.catalogue.change_source(source_id, SourceChange(follow=str(parse_follow(follow))))


def enter(house: House, given: str, *, kind: str = UNRECOGNISED, again: bool = False, in_place: bool = False) -> Source:
    """Enter a file, or an address; if its kind isn't said, that is found out when the address has been visited."""
    check_kind(kind)
    if not re.match(r"[a-z][a-z0-9+.-]*://", given, re.IGNORECASE):
        path = Path(given)
        return enter_file(house, path, name=path.name, kind=kind, again=again, in_place=in_place)
    if in_place:
        raise SourceError(f"{given} can't be left in place; that is for WARC files on this machine")
    url = read_address(given)
    name = _fresh(house, url) if again else url
    return house.catalogue.add_source(kind=kind, name=name, location=url, size=0, now=utc_now())


def enter_file(
    house: House, path: Path, *, name: str, kind: str = UNRECOGNISED, again: bool = False, in_place: bool = False
) -> Source:
    """Enter a file as a source; ``again`` enters it a second time, with statistics of its own.

    A kind that is said holds, whatever the file looks like.
    """
    if kind == PAGE:
        raise SourceError(f"{path} is a file and can't be a page; add the address where it lies")
    if kind == UNRECOGNISED:
        kind = recognise_file(path, load_all("source"))
    else:
        sample_file(path, name=name)  # SourceError if it can't be opened
    if in_place:
        if kind != WARC:
            raise SourceError(f"{path} can't be left in place; that is for WARC files")
        kind = WARC_IN_PLACE
    now, worker, catalogue = utc_now(), house.worker, house.catalogue
    return catalogue.add_source(
        kind=kind,
        name=_fresh(house, name) if again else name,
        location=str(path.resolve()),
        size=path.stat().st_size,
        worker=worker,
        now=now,
    )


def _fresh(house: House, name: str) -> str:
    """Return a name that no source has."""
    taken = {source.name for source in house.catalogue.sources()}
    number, fresh = 1, name
    while fresh in taken:
        number += 1
        fresh = f"{name} ({number})"
    return fresh


def expand(given: str) -> list[str]:
    """Return what a folder or a pattern stands for; anything else stands for itself."""
    path = Path(given)
    if path.is_dir():
        crawls = [str(one) for one in find_crawls(path)]
        if not crawls:
            raise SourceError(f"there is no WARC or ARC file in the folder {given}")
        return crawls
    if "://" in given or path.exists() or not glob.has_magic(given):
        return [given]
    files = sorted(one for one in glob.glob(given, recursive=True) if Path(one).is_file())  # noqa: PTH207
    if not files:
        raise SourceError(f"no file matches {given}")
    return files


def read_in(
    house: House,
    source_id: int,
    *,
    on_progress: Callable[[float], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Source:
    """Read a source from its cursor to its end, or until it waits for a visit; DataFolderBusy if others are at it.

    It is in the outbox from now on, so that whatever is left is done by the next harvest.
    """
    catalogue, discovery = house.catalogue, house.discovery
    source = catalogue.start_source(source_id, worker=house.worker, now=utc_now())
    if source.state is SourceState.DONE:
        return source
    with discovery.lock():
        claimed = discovery.claim([source_id])
        if claimed is None:
            raise DataFolderBusy(f"another worker reads {source.name}")
        for _ in discovery.read(claimed, report=lambda _, share: on_progress(share), cancelled=cancelled):
            pass
    return catalogue.source(source_id)


def kind_in_words(source: Source) -> str:
    """Return what a source is, as people call it."""
    if source.kind == UNRECOGNISED:
        return "not known yet"
    kind = load_all("source").get(source.kind)  # none if the package that brings it is gone, or can't be loaded
    return source.kind if kind is None else str(kind.title)


def entries_in_words(source: Source) -> str:
    """Return how many entries were read of a source, in its own unit: "1,200 lines"."""
    unit = unit_of(source)
    read = int(source.counts.get(unit, source.counts.get("lines", 0)))  # a page once counted as a line
    return f"{read:,} {unit.removesuffix('s') if read == 1 else unit}"


def counts_of_reading(before: Source, after: Source) -> dict[str, int]:
    """Return what a reading did, in numbers; those of visits and documents are its resources', whoever brought them."""
    of_reading = {unit_of(after), "accepted", "rejected", "malformed", "kept", "known", "adopted", "unresolved"}
    counts = {
        name: int(n - before.counts.get(name, 0))
        for name, n in sorted(after.counts.items())
        if name in of_reading or name.startswith("rejected:")
    }
    return {name: n for name, n in counts.items() if n}


def has_changed(source: Source) -> bool:
    """Whether a file was written after it was begun to be read, or is longer or shorter than when it was added."""
    if not source.is_local or source.began_at is None:
        return False
    try:
        stat = Path(source.location).stat()
    except OSError:
        return False
    return stat.st_size != source.size or stat.st_mtime > source.began_at.timestamp()


def unit_of(source: Source) -> str:
    """Return what a source consists of: lines, or records."""
    kind = load_all("source").get(source.kind)
    return "lines" if kind is None else str(kind.unit)


def upload_folder(house: House) -> Path:
    """Return the folder in which sources that came over the network lie."""
    folder = house.settings.data / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
