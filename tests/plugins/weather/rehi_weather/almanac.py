"""An almanac: a source that names reports, one on each line, with a title after its address."""

from __future__ import annotations

from collections.abc import Iterator

from rehi.model.claims import Claims
from rehi.model.source import Entry, Finding, Malformed, Source
from rehi.sources.kind import NOT_AT_ALL, Discovered, Fetch, Recognition, SourceSample
from rehi.sources.urls import normalise

_FIRST = b"almanac 1\n"
_BATCH = 2  # entries, so that there are several cursors


class Almanac:
    """The kind of source."""

    title = "almanac"
    unit = "reports"

    def recognise(self, sample: SourceSample) -> Recognition:
        return Recognition(1.0, "an almanac") if sample.start.startswith(_FIRST) else NOT_AT_ALL

    def discover(self, source: Source, cursor: bytes, fetch: Fetch) -> Iterator[Discovered]:
        with fetch(source.location) as fetched:
            lines = fetched.path.read_text(encoding="utf-8").splitlines()[1:]
        for start in range(int(cursor or b"0"), len(lines), _BATCH):
            end = min(start + _BATCH, len(lines))
            entries = [_entry(number, lines[number]) for number in range(start, end)]
            yield Discovered(entries, str(end).encode(), end / len(lines))


def _entry(number: int, line: str) -> Entry:
    address, _, title = line.partition(" ")
    url = normalise(address)
    if url is None:
        return Malformed(number + 1, line, "no address before the title")
    return Finding(url, Claims(title=title, publisher="The Almanac"))


KIND = Almanac()
