"""Sources: a file, an upload or an address becomes a source, and its lines become resources."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from rehi.app import House, lock_folder, utc_now
from rehi.errors import SourceError
from rehi.fetch import Fetcher
from rehi.model.problem import Problem, Stage
from rehi.model.source import Source, SourceKind, SourceState
from rehi.operations.parameters import LONGEST_URL, SourceId
from rehi.operations.status import RunningService
from rehi.sources import detect, normalise, open_lines, read_source
from rehi.sources.intake import take_in


def list_sources(house: House) -> Sequence[Source]:
    """List the sources with their statistics, the newest first."""
    return house.catalogue.sources()


def get_source(house: House, *, source_id: SourceId) -> Source:
    """Return one source with its statistics."""
    return house.catalogue.source(source_id)


def add_source(
    service: RunningService,
    *,
    source: Annotated[
        str, Field(pattern="^https?://", max_length=LONGEST_URL, description="The address of a log, a list or a page.")
    ],
    start: Annotated[bool, Field(description="Whether to begin at once.")] = True,
) -> Source:
    """Add a source by its address."""
    entered = enter(service.house, source)
    if start:
        service.start_source(entered.id)
    return service.house.catalogue.source(entered.id)


def start_source(service: RunningService, *, source_id: SourceId) -> Source:
    """Have a waiting source taken in and harvested."""
    service.start_source(source_id)
    return service.house.catalogue.source(source_id)


def enter(house: House, given: str, *, again: bool = False, in_place: bool = False) -> Source:
    """Enter a file, the address of one, or the address of a single page."""
    if not re.match(r"[a-z][a-z0-9+.-]*://", given, re.IGNORECASE):
        path = Path(given)
        return enter_file(house, path, name=path.name, again=again, in_place=in_place)
    if in_place:
        raise SourceError(f"{given} can't be left in place; that is for WARC files on this machine")
    url = normalise(given)
    if url is None or not url.startswith(("http://", "https://")):
        raise SourceError(f"{given} is not a URL that can be visited; it must begin with http:// or https://")
    path = _download(house, url)
    try:
        return enter_file(house, path, name=url, again=again)
    except SourceError:
        path.unlink()
        return house.catalogue.add_source(kind=SourceKind.PAGE, name=url, location="", size=0, now=utc_now())


def enter_file(house: House, path: Path, *, name: str, again: bool = False, in_place: bool = False) -> Source:
    """Enter a file as a source; ``again`` enters it a second time, with statistics of its own."""
    kind = detect(path)
    if in_place:
        if kind is not SourceKind.WARC:
            raise SourceError(f"{path} can't be left in place; that is for WARC files")
        kind = SourceKind.WARC_IN_PLACE
    taken = {source.name for source in house.catalogue.sources()} if again else set()
    number, fresh = 1, name
    while fresh in taken:
        number += 1
        fresh = f"{name} ({number})"
    return house.catalogue.add_source(
        kind=kind, name=fresh, location=str(path.resolve()), size=path.stat().st_size, now=utc_now()
    )


def read_in(
    house: House,
    source_id: int,
    *,
    on_progress: Callable[[int], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Source:
    """Read a source from where it stands to its end; DataFolderBusy when another process is at it."""
    catalogue = house.catalogue
    with lock_folder(house.settings.data, name="intake.lock"):
        source = catalogue.source(source_id)
        if source.state is SourceState.DONE:
            return source
        catalogue.mark_source(source_id, SourceState.READING)
        try:
            _read_lines(house, source, on_progress, cancelled)
        except SourceError as error:
            _fail(house, source_id, error)
            raise
        if not cancelled():
            catalogue.mark_source(source_id, SourceState.DONE)
    return catalogue.source(source_id)


def _read_lines(
    house: House, source: Source, on_progress: Callable[[int], None], cancelled: Callable[[], bool]
) -> None:
    if source.kind is SourceKind.PAGE:
        counts = {"lines": 1.0, "accepted": 1.0}
        house.catalogue.take_in(source, [source.name], position=1, counts=counts, now=utc_now())
        return
    if source.kind.is_crawl:
        from rehi.operations.imports import import_crawl

        import_crawl(house, source, on_progress=on_progress, cancelled=cancelled)
        return
    with open_lines(Path(source.location)) as lines:
        findings = read_source(source.kind, lines, start=source.position)
        for _ in take_in(source, findings, house.catalogue, clock=utc_now, cancelled=cancelled):
            on_progress(lines.bytes_read)


def _fail(house: House, source_id: int, error: SourceError) -> None:
    name, advice = house.catalogue.source(source_id).name, "What came before is kept. Mend the file and add it again."
    house.catalogue.note([Problem.of(error, stage=Stage.SOURCES, subject=name, at=utc_now(), advice=advice)])
    house.catalogue.mark_source(source_id, SourceState.FAILED)


def upload_folder(house: House) -> Path:
    """Where sources that came over the network lie."""
    folder = house.settings.data / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _download(house: House, url: str) -> Path:
    """Bring a log or list here, through the same guard as every visit."""
    fetcher: Fetcher[str] = Fetcher(house.settings.fetch, clock=utc_now)
    try:
        fetcher.submit(url, url, follow=True, max_bytes=house.settings.serve.max_upload)
        while not (finished := fetcher.poll(1.0)):
            continue
    finally:
        fetcher.close()
    visit = finished[0][1]
    if visit.answer is None:
        raise SourceError(f"{url} can't be had: {visit.error}")
    with visit.answer.body as body:
        if visit.answer.status >= 400:
            raise SourceError(f"{url} can't be had: the server answered {visit.answer.status}")
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(urlsplit(url).path).name)[-80:].lstrip(".-") or "source"
        path = upload_folder(house) / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}-{stem}"
        with path.open("wb") as file:
            shutil.copyfileobj(body, file)
    return path
