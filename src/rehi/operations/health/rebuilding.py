"""Rebuilding: a damaged or lost catalogue made again, from what can be read of it and from the archive's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rehi.app import House, utc_now
from rehi.app.embedded import EmbeddedCatalogue, embedded_catalogue
from rehi.errors import CatalogueLost, SourceError
from rehi.model.source import SourceState
from rehi.operations.health.mended import Mended
from rehi.operations.reindex import reindex, set_catalogue_aside
from rehi.operations.sources import enter_file, upload_folder

# What is in no other file, where the whole catalogue is lost; and by table, where some rows of it are.
_ONLY_THERE = (
    "sources that were added by a path or a URL: add them again with `rehi add`",
    "what was ordered for hosts and sources",
    "URLs that never answered, but for those that a source names again",
    "schedules, what was learned of hosts, and the table of updates",
)
_ROWS_ONLY_THERE = {
    "source": "sources",
    "orders": "orders for hosts",
    "update_round": "rows of the table of updates",
    "update_share": "rows of the table of updates",
}


def mend_catalogue(house: House, mended: Mended) -> None:
    """Mend the catalogue, if it is damaged or lost. The house must not have opened it."""
    file = embedded_catalogue(house.settings)
    faults = [] if file is None else list(file.faults(deep=True))
    if file is None or file.why_gone() or not faults:
        if _is_lost(house, file):
            _begin_anew(house, file, mended)
        return
    if all(fault.index for fault in faults):
        file.rebuild_indexes()
        if not list(file.faults(deep=True)):
            mended.done.append("the catalogue's indexes were made again")
            return
    _rebuild(house, file, mended)


def _is_lost(house: House, file: EmbeddedCatalogue | None) -> bool:
    if file is not None and file.why_gone() and any(house.archive.walks()):
        return True  # in a bucket, where it is not looked when a catalogue is opened
    with House(house.settings) as other:
        try:
            other.catalogue.check()
        except CatalogueLost:
            return True
    return False


def _begin_anew(house: House, file: EmbeddedCatalogue | None, mended: Mended) -> None:
    """Fill an empty catalogue with what the archive's files tell, and the sources that lie in the data folder."""
    if file is not None and file.path.with_name(f"{file.path.name}-wal").exists():
        set_catalogue_aside(house)  # SQLite would delete a log without its file
    with House(house.settings) as fresh:
        fresh.begin_catalogue()
        done = reindex(fresh)
        mended.done.append(
            f"the catalogue was lost, and begun anew: {done.versions:,} versions were entered from the archive"
        )
        _enter_uploads(fresh, mended)
    mended.missing += _ONLY_THERE


def _rebuild(house: House, file: EmbeddedCatalogue, mended: Mended) -> None:
    """Bring what is readable to a new file, take its place, and enter what the archive's files tell."""
    path = file.path
    new = path.with_name(f".{path.name}.mended")
    for suffix in ("", "-wal", "-shm"):
        new.with_name(new.name + suffix).unlink(missing_ok=True)
    rows = file.salvage(new)
    aside = set_catalogue_aside(house)
    new.rename(path)
    mended.done.append(
        f"the catalogue was set aside as {aside.name}; {sum(rows.copied.values()):,} rows of it were brought to a new one"
    )
    mended.missing += dict.fromkeys(_left_out(rows.left_out)) if any(rows.copied.values()) else _ONLY_THERE
    with House(house.settings) as fresh:
        done = reindex(fresh)
        mended.done.append(f"{done.versions:,} versions were entered from the archive")
        # Of URLs that never answered, only their source tells: where rows are lost, some of these are.
        sources = [one for one in fresh.catalogue.sources() if one.state in (SourceState.READING, SourceState.DONE)]
        for source in sources:
            fresh.catalogue.start_source(source.id, worker=fresh.worker, anew=True, now=utc_now())
        if sources:
            mended.done.append(f"{len(sources):,} sources are read again from their beginning by the next harvest")
        _enter_uploads(fresh, mended)
    file.restore_schedules(aside)


def _left_out(rows: Mapping[str, int]) -> Iterator[str]:
    for table, words in _ROWS_ONLY_THERE.items():
        if rows.get(table):
            yield f"some {words}, whose rows in the catalogue are damaged"


def _enter_uploads(house: House, mended: Mended) -> None:
    """Enter the sources again that lie in the data folder and are not known any more; the next harvest reads them."""
    known = {source.location for source in house.catalogue.sources()}
    entered = 0
    for path in sorted(upload_folder(house).iterdir()):
        if path.name.startswith(".") or str(path.resolve()) in known:
            continue
        try:
            source = enter_file(house, path, name=path.name)
        except SourceError as error:
            mended.missing.append(f"the source {path.name}: {error}")
            continue
        house.catalogue.start_source(source.id, worker=house.worker, now=utc_now())
        entered += 1
    if entered:
        mended.done.append(f"{entered:,} uploaded sources were entered again, and are read by the next harvest")
