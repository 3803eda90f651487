"""Downloads: many versions as one zip file, which is made while it is being read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated

from pydantic import Field

from rehi.app import House, utc_now
from rehi.errors import NotFound, RehiError
from rehi.model.capture import CaptureFilter
from rehi.model.media import by_name
from rehi.operations.byte_stream import ByteStream
from rehi.operations.file_names import name_in_folders
from rehi.operations.mementos import Memento, stamped
from rehi.operations.moments import digits_of, parse_moment
from rehi.operations.parameters import HostName, MediaTypeFilter, Since, SourceId, Until, Url
from rehi.operations.versions import kept_url
from rehi.operations.zip_stream import CHUNK, ZipStream
from rehi.sources import host_meant

INDEX = "index.jsonl"
_SPOOLED = 1 << 20


@dataclass(slots=True)
class ZipCounts:
    """What went into a zip file so far."""

    versions: int = 0
    bytes: int = 0
    problems: int = 0  # of versions that could not be had; the index in the zip says which and why


def download_versions(
    house: House,
    *,
    url: Annotated[Url, Field(description="Only this URL.")] = "",
    prefix: Annotated[Url, Field(description="Only URLs that begin so.")] = "",
    host: HostName = "",
    domain: Annotated[bool, Field(description="With host: also the hosts below it.")] = False,
    source: SourceId | None = None,
    media_type: MediaTypeFilter = "",
    since: Since = "",
    until: Until = "",
    all_versions: Annotated[
        bool, Field(alias="all", description="All versions, and not only the newest of each URL.")
    ] = False,
) -> ByteStream:
    """Return the newest versions of all that matches, or all of them, as a zip that is made while it is sent."""
    where = choose(
        house,
        url=url,
        prefix=prefix,
        host=host,
        domain=domain,
        source_id=source,
        media_type=media_type,
        since=since,
        until=until,
    )
    chunks = zip_versions(house, where, all_versions=all_versions, tally=ZipCounts())
    return ByteStream(media_type="application/zip", chunks=chunks, file_name=f"rehi-{digits_of(utc_now())}.zip")


def choose(
    house: House,
    *,
    url: str = "",
    prefix: str = "",
    host: str = "",
    domain: bool = False,
    source_id: int | None = None,
    media_type: str = "",
    since: str = "",
    until: str = "",
) -> CaptureFilter:
    """Return a filter for the versions that are meant; NotFound and SettingsError say what can't be."""
    if source_id is not None:
        house.catalogue.source(source_id)
    return CaptureFilter(
        url=kept_url(house, url) if url else "",
        prefix=prefix,
        host=host_meant(host).rpartition("://")[2] if host else "",
        domain=domain,
        source_id=source_id,
        media_type=media_type.strip().lower(),
        since=parse_moment(since, end=False) if since else None,
        until=parse_moment(until) if until else None,
        versions_only=True,
    )


def zip_versions(house: House, where: CaptureFilter, *, all_versions: bool, tally: ZipCounts) -> Iterator[bytes]:
    """Return a zip of the newest versions of all URLs that match, or of all versions; NotFound at once if there are none."""
    matching = stamped(house.catalogue.captures(where))
    chosen = matching if all_versions else _newest(matching)
    first = next(chosen, None)
    if first is None:
        raise NotFound("no version matches; loosen the filters, or look at `rehi stats` for what there is")
    return _Zip(house, all_versions, tally).write(first, chosen)


class _Zip:
    """One zip file while it is written."""

    def __init__(self, house: House, all_versions: bool, tally: ZipCounts) -> None:
        self._house, self._dated, self._tally = house, all_versions, tally

    def write(self, first: Memento, others: Iterable[Memento]) -> Iterator[bytes]:
        zipped = ZipStream()
        with SpooledTemporaryFile(max_size=_SPOOLED) as index:
            try:
                yield from self._add(zipped, first, index)
                for memento in others:
                    yield from self._add(zipped, memento, index)
                size = index.tell()
                index.seek(0)
                yield from zipped.add(INDEX, _chunks(index), at=utc_now(), size=size)
                yield from zipped.end()
            finally:
                zipped.close()

    def _add(self, zipped: ZipStream, memento: Memento, index: IO[bytes]) -> Iterator[bytes]:
        capture = memento.capture
        name = name_in_folders(capture.url, capture.media_type, memento.stamp if self._dated else "")
        problem, written = "", False
        try:
            if capture.dropped or capture.body is None:
                raise NotFound("the bytes were dropped by a rule for this source")
            with self._house.archive.open_body(capture.body) as body:
                written = True
                packed = by_name(capture.media_type).is_compressed
                yield from zipped.add(name, _chunks(body), at=capture.at, size=capture.size, packed=packed)
            self._tally.versions += 1
            self._tally.bytes += capture.size
        except RehiError as error:
            problem = str(error)
            self._tally.problems += 1
        index.write(_line(memento, name if written else "", problem))


def _newest(mementos: Iterable[Memento]) -> Iterator[Memento]:
    """Yield the last memento of each URL, of mementos in the order of URLs and of time."""
    held: Memento | None = None
    for memento in mementos:
        if held is not None and held.capture.url != memento.capture.url:
            yield held
        held = memento
    if held is not None:
        yield held


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk


def _line(memento: Memento, name: str, problem: str) -> bytes:
    import orjson

    capture = memento.capture
    entry: dict[str, str | int | datetime | None] = {
        "name": name or None,
        "url": capture.url,
        "taken_at": capture.at,
        "media_type": capture.media_type,
        "status": capture.status,
        "size": capture.size,
        "digest": capture.digest,
    }
    if problem:
        entry["problem"] = problem
    return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)
