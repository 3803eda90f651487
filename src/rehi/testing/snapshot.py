"""A snapshot: all that a house keeps, in words that depend on no id, time or order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rehi.app import House
from rehi.errors import NotFound
from rehi.model.listing import DocumentFilter, DocumentRow, Page
from rehi.model.problem import Stage
from rehi.model.version import RecordRef

# All but the mark, which counts how often something was written.
_EVERYTHING = "SELECT ?g ?s ?p ?o WHERE { GRAPH ?g { ?s ?p ?o } FILTER(!STRENDS(STR(?g), '/graph/mark')) }"
_ROWS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What can be compared between two harvests of the same web."""

    resources: dict[str, tuple[str, int, str]]  # URL -> state, status, redirect
    versions: dict[str, tuple[str, ...]]  # URL -> digests in order
    documents: dict[str, tuple[str, str, str]]  # URL -> type, language, title
    names: dict[str, tuple[tuple[str, int], ...]]  # URL -> entities with their counts
    texts: dict[str, str]  # URL -> the text that was read
    problems: frozenset[tuple[str, str, str]]  # stage, code, subject
    records: Counter[tuple[str, str]]  # (URL, digest) of all kept bodies and revisits
    statements: Counter[str]  # of the graph, each once


def take_snapshot(house: House, *, records: bool = True) -> Snapshot:
    """Read everything back; without the records if a file of them is damaged, which other tools can't read on."""
    rows = list(_rows(house))
    urls = {row.resource_id: row.url for row in rows}
    catalogue = house.catalogue
    return Snapshot(
        resources={row.url: (row.state, row.status, row.redirect_to) for row in rows},
        versions={row.url: tuple(v.digest for v in catalogue.versions(row.url)) for row in rows if row.versions},
        documents={row.url: (row.media_type, row.language, row.title) for row in rows if row.versions},
        names={
            row.url: tuple(sorted((str(name.key), name.count) for name in catalogue.outline(row.resource_id).names))
            for row in rows
        },
        texts={row.url: house.reading(row.resource_id).document.text for row in rows if is_read(house, row)},
        problems=frozenset(_problems(house)),
        records=Counter(_records(house) if records else ()),
        statements=Counter(_statements(house, urls)),
    )


def _rows(house: House) -> Iterator[DocumentRow]:
    offset = 0
    while rows := house.catalogue.documents(DocumentFilter(), Page(limit=_ROWS, offset=offset))[0]:
        yield from rows
        offset += len(rows)


def _problems(house: House) -> Iterator[tuple[str, str, str]]:
    rows, _ = house.catalogue.problems(stage=None, page=Page(limit=10_000))
    for row in rows:
        if row.stage is not Stage.ARCHIVE:  # torn ends tell of kills, which is what is to make no difference
            yield row.stage.value, row.code, row.subject


def is_read(house: House, row: DocumentRow) -> bool:
    """Whether a document was read."""
    try:
        return bool(house.catalogue.shown_reading(row.resource_id))
    except NotFound:
        return False


def _records(house: House) -> Iterator[tuple[str, str]]:
    from warcio.archiveiterator import ArchiveIterator

    shelf = house.archive.shelf
    for file, size in shelf.files():
        if file.endswith(".warc.gz"):
            with shelf.open(RecordRef(file, 0, size)) as stream:
                for record in ArchiveIterator(stream):
                    if record.rec_type in ("response", "revisit"):
                        headers = record.rec_headers
                        yield headers.get_header("WARC-Target-URI"), headers.get_header("WARC-Payload-Digest")


def _statements(house: House, urls: dict[int, str]) -> Iterator[str]:
    def name(match: re.Match[str]) -> str:
        return f"{match[1]}{urls[int(match[2])]}"

    answer = house.query(_EVERYTHING, media_type="text/tab-separated-values")
    for line in b"".join(answer.chunks).decode().splitlines()[1:]:
        if "<http://purl.org/dc/terms/issued>" not in line:
            yield re.sub(r"(/graph/resource/|/version/)(\d+)", name, line)
