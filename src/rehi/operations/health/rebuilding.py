"""Rebuilding: a damaged catalogue made again, from what can be read of it and from the archive's files."""

from __future__ import annotations

from collections.abc import Iterator

from rehi.app import House, utc_now
from rehi.embedded import EmbeddedCatalogue, embedded_catalogue
from rehi.model.source import SourceState
from rehi.operations.reindex import reindex, set_catalogue_aside


def mend_catalogue(house: House) -> Iterator[str]:
    """Mend the embedded catalogue, if it is damaged; yield what was done. The house must not have opened it."""
    file = embedded_catalogue(house.settings)
    if file is None:
        return
    faults = list(file.faults(deep=True))
    if not faults and (file.path.exists() or not any(house.archive.walks())):
        return
    if faults and all(fault.index for fault in faults):
        file.rebuild_indexes()
        if not list(file.faults(deep=True)):
            yield "the catalogue's indexes were made again"
            return
    yield from _rebuild(house, file)


def _rebuild(house: House, file: EmbeddedCatalogue) -> Iterator[str]:
    """Bring what is readable to a new file, take its place, and enter what the archive's files tell."""
    path, aside = file.path, None
    new = path.with_name(f".{path.name}.mended")
    for suffix in ("", "-wal", "-shm"):
        new.with_name(new.name + suffix).unlink(missing_ok=True)
    if path.exists():
        counts = file.salvage(new)
        aside = set_catalogue_aside(house)
        new.rename(path)
        yield f"the catalogue was set aside as {aside.name}; {sum(counts.values()):,} rows of it were brought to a new one"
    with House(house.settings) as fresh:
        done = reindex(fresh)
        yield f"{done.versions:,} versions were entered from the archive"
        # Of URLs that never answered, only their source tells: where rows are lost, some of these are.
        sources = [one for one in fresh.catalogue.sources() if one.state in (SourceState.READING, SourceState.DONE)]
        for source in sources:
            fresh.catalogue.start_source(source.id, worker=fresh.worker, anew=True, now=utc_now())
    if sources:
        yield f"{len(sources):,} sources are read again from their beginning by the next harvest"
    if aside is not None:
        file.restore_schedules(aside)
