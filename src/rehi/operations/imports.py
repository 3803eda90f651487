"""Importing: a crawl made elsewhere is taken in, from where it stands to its end.

It is appended to files of its own, under the lock that all intake has, so that a harvest may go on beside it.
"""

from __future__ import annotations

import glob
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rehi.app import House, utc_now
from rehi.archive import Archive
from rehi.archive.foreign import Damage, ForeignFile, open_foreign
from rehi.errors import SourceError
from rehi.frontier import VISIT_RULES, zone_of
from rehi.model.source import Source, SourceKind, SourceState
from rehi.pipeline.imports import Imports
from rehi.pipeline.judgement import Judge
from rehi.sources.web_archive import find_crawls


def expand(given: str) -> list[str]:
    """What a folder or a pattern stands for; anything else stands for itself."""
    path = Path(given)
    if path.is_dir():
        found = [str(one) for one in find_crawls(path)]
        if not found:
            raise SourceError(f"there is no WARC or ARC file in the folder {given}")
        return found
    if "://" in given or path.exists() or not glob.has_magic(given):
        return [given]
    found = sorted(one for one in glob.glob(given, recursive=True) if Path(one).is_file())  # noqa: PTH207
    if not found:
        raise SourceError(f"no file matches {given}")
    return found


def import_crawl(
    house: House, source: Source, *, on_progress: Callable[[int], None], cancelled: Callable[[], bool]
) -> None:
    """Take a crawl in; whoever calls holds the intake's lock."""
    path = Path(source.location)
    file = open_foreign(path)
    try:
        with house.importing() as archive:
            _recover(house, archive, source)
            imports = Imports(
                archive=archive,
                catalogue=house.catalogue,
                source=source,
                worker=house.worker,
                clock=utc_now,
                max_bytes=house.settings.fetch.max_bytes,
                spool=house.spool,
                adopted=house.adopt(path) if source.kind is SourceKind.WARC_IN_PLACE else "",
            )
            try:
                _read(imports, file, source.position, on_progress=on_progress, cancelled=cancelled)
            finally:
                imports.close()
            for name, size in archive.unsealed():
                archive.seal(name, size, spool=house.spool)
    finally:
        file.close()


def _read(
    imports: Imports,
    file: ForeignFile,
    position: int,
    *,
    on_progress: Callable[[int], None],
    cancelled: Callable[[], bool],
) -> None:
    for item in file.records(position):
        if not isinstance(item, Damage) and imports.is_due(item):
            imports.store(position=item.at)
            on_progress(file.done)
            if cancelled():
                return
        imports.take(item)
    imports.store(position=max(position, file.packed.size))
    on_progress(file.packed.size)


def _recover(house: House, archive: Archive, source: Source) -> None:
    """Enter what was kept before a kill and is not on record; a torn end is set aside."""
    judge = Judge(archive, house.catalogue, settings=house.settings, time_zone=zone_of(house.settings))
    now = utc_now()
    owner = source.id if source.state is SourceState.READING else None
    found = [replace(visited, next_at=None, source_id=owner) for visited in judge.recover(now=now)]
    if found:
        house.catalogue.record(found, [], rules=VISIT_RULES, worker=house.worker, now=now)
