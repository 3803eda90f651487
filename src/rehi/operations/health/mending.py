"""Mending: each part brought back from what it is made of, and a list of what can't be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import partial

from rehi import __version__
from rehi.app import House, lock_folder, utc_now
from rehi.archive import DAMAGED, index_name, is_derived, original_name, own_files, write_tombstones
from rehi.errors import DataFolderBusy, IndexWrong, RecordLost
from rehi.model.problem import Problem, Stage
from rehi.model.retention import LOST, PrunedBody
from rehi.operations.health import derived, graph
from rehi.operations.health.archive import missing_indexes
from rehi.operations.health.examination import examine
from rehi.operations.health.losses import find_lost_records
from rehi.operations.health.mended import LostRecord, LostVersion, Mended
from rehi.operations.health.rebuilding import mend_catalogue
from rehi.operations.reindex import reindex
from rehi.operations.retention import RESOURCES, finish_prune
from rehi.operations.verification import Fault, Verified, files_elsewhere, files_here, record_starts, verify_all
from rehi.settings import Settings

NAMED = 5  # records that a problem names


def mend(settings: Settings) -> Mended:
    """Bring every part back that is damaged, and look at all of them again; DataFolderBusy while somebody harvests here."""
    mended = Mended()
    with House(settings) as house:
        _refuse_beside_a_harvest(house)
        mend_catalogue(house, mended)
    with House(settings) as house:  # the catalogue may be another one by now
        _mend_archive(house, mended)
        _mend_derived(house, mended)
        _mend_graph(house, mended)
        with house.working() as work:
            work.catch_up()
        mended.done += [f"{n:,} {name}" for name, n in sorted(work.progress.counts.items()) if n]
    with House(settings) as house:
        mended.ailing += [ailment for seen in examine(house, deep=True) for ailment in seen.ailments]
    return mended


def _refuse_beside_a_harvest(house: House) -> None:
    for name in ("lock", "intake.lock"):
        try:
            with lock_folder(house.settings.data, name=name):
                pass
        except DataFolderBusy as error:
            raise DataFolderBusy(
                f"somebody harvests in {house.settings.data}: stop it, then mend; `rehi doctor` may look meanwhile"
            ) from error


def _mend_archive(house: House, mended: Mended) -> None:
    """Enter what the catalogue does not know, note what is lost, write damaged files anew, and make indexes again."""
    done = verify_all(house)
    if done.unknown:
        reindex(house)
        mended.done.append(f"{len(done.unknown):,} visits were entered in the catalogue from the archive")
    elsewhere = files_elsewhere(house)
    bodies = [
        body.digest
        for body in house.catalogue.bodies()
        if body.place.file not in elsewhere and not house.archive.has_file(body.place.file)
    ]
    bodies += [fault.digest for fault in done.faults if fault.digest]
    known = house.catalogue.find_bodies(bodies)
    gone = house.catalogue.describe_bodies({body.id: LOST for body in known.values() if body.pruned is None})
    records = list(find_lost_records(house, [fault for fault in done.faults if fault.code != IndexWrong.code]))
    lost = [version for body in gone for version in _versions_of(house, body)]
    # A version may be dated ahead, if the clock was wrong when it came: what is lost now came before now.
    at = max([utc_now(), *(datetime.fromisoformat(version.at) for version in lost)])
    _note_lost(house, gone, done, records, at=at)
    mended.records += records
    mended.lost += lost
    if gone:
        mended.done.append(f"{len(gone):,} bodies are lost")
    mended.done += _mend_files(house, done.damaged)
    mended.done += _mend_indexes(house, done.faults)


def _note_lost(
    house: House, gone: Sequence[PrunedBody], done: Verified, records: Sequence[LostRecord], *, at: datetime
) -> None:
    """Write down what is lost, in the archive first: a catalogue that is made again must not look for it either."""
    with lock_folder(house.settings.data, name="prune.lock"):
        write_tombstones(house.archive.shelf, gone, at=at, worker=house.worker, software=f"rehi/{__version__}")
        finish_prune(house)
    sizes = dict(house.archive.shelf.files())
    moved = {file.name for file in files_here(house) if file.name not in sizes and house.archive.has_file(file.name)}
    ends = {file.name: sizes.get(file.name, 0) for file in files_here(house) if file.name not in moved}
    known = {file.name: file.known_end for file in files_here(house)}
    house.catalogue.shorten_files({name: end for name, end in ends.items() if end < known[name]})
    parts = [fault for fault in done.faults if fault.code != IndexWrong.code]
    names: dict[tuple[str, int], list[str]] = {}
    for record in records:
        names.setdefault((record.file, record.offset), []).append(str(record))
    house.catalogue.note([_to_problem(fault, names.get((fault.file, fault.offset), [])) for fault in parts])


def _to_problem(fault: Fault, names: Sequence[str]) -> Problem:
    subject = f"{fault.file}:{fault.offset}"
    named = f": {'; '.join(names[:NAMED])}" if names else ""
    rest = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return Problem.of(RecordLost(f"{fault.why}{named}{rest}"), stage=Stage.ARCHIVE, subject=subject, at=utc_now())


def _versions_of(house: House, body: PrunedBody) -> Iterator[LostVersion]:
    """Yield all versions that had a body, of which a tombstone names only the first ones."""
    urls = dict.fromkeys(place.url for place in body.places)
    if body.versions > len(body.places):
        blob, after = house.catalogue.find_bodies([body.digest])[body.digest].id, 0
        while pairs := house.catalogue.sharers([blob], after=after, limit=RESOURCES):
            after = pairs[-1][1]
            urls |= {one.url: None for one in house.catalogue.describe_resources([resource for _, resource in pairs])}
    for url in urls:
        for one in house.catalogue.versions(url):
            if one.digest == body.digest:
                yield LostVersion(
                    url=url, at=one.taken_at.isoformat(), number=one.number, why="its bytes are lost"
                )  # fmt: skip


def _mend_files(house: House, damaged: Collection[str]) -> Iterator[str]:
    """Write damaged files anew with their whole records only, so that other tools read them to their ends."""
    own = own_files(house.worker) if house.settings.archive.uri else None  # of a bucket, others look after theirs
    files = [file for file in damaged if own is None or own.fullmatch(file)]
    ends, sizes = {file.name: file.known_end for file in files_here(house)}, dict(house.archive.shelf.files())
    ahead = any(sizes.get(file, 0) > ends.get(original_name(file), 0) for file in files)
    with ExitStack() as stack:
        for name in ("compact.lock", "intake.lock", "lock"):
            stack.enter_context(lock_folder(house.settings.data, name=name))
        done = house.archive.excise(
            files, starts=partial(record_starts, house), worker=house.worker, now=utc_now(), spool=house.spool
        )
    if done.files:
        yield (
            f"{done.files:,} damaged files were written anew with their {done.records:,} whole records; as they were, "
            f"they stay beside them as …{DAMAGED}"
        )
    if (
        done.files and ahead
    ):  # what lay behind the ends that the catalogue knows is in files now at which no start looks
        reindex(house)


def _mend_indexes(house: House, faults: Sequence[Fault]) -> Iterator[str]:
    """Make indexes again that are wrong or missing, or name what is lost."""
    faulty, missing = {fault.file for fault in faults}, {ailment.subject for ailment in missing_indexes(house)}
    files = [
        walk
        for walk in house.archive.walks()
        if walk.name in missing
        or index_name(walk.name) in faulty
        or (walk.name in faulty and house.archive.is_sealed(walk.name))
    ]
    if files:
        with house.sealing() as (archive, _):
            for walk in files:
                archive.seal(walk.name, walk.size)
        yield f"{len(files):,} indexes were made again"


def _mend_derived(house: House, mended: Mended) -> None:
    """Have readings made again whose records are damaged."""
    seen = derived.examine(house, deep=True)
    readings = [ailment.row for ailment in seen.ailments if ailment.row is not None]
    sizes = house.derived.sizes()
    known = [
        file for file in house.catalogue.known_files() if is_derived(file.name) and file.owner in ("", house.worker)
    ]
    house.catalogue.shorten_files(
        {file.name: end for file in known if (end := sizes.get(file.name, 0)) < file.known_end}
    )
    if readings:
        count = house.catalogue.lose_readings(readings)
        mended.done.append(f"{count:,} readings were made again from the archive")


def _mend_graph(house: House, mended: Mended) -> None:
    """Remove what is stray; set a graph aside that is wrong otherwise: whoever writes it next writes all of it again."""
    ailments = graph.examine(house, deep=True).ailments
    if ailments and all(graph.STRAY in ailment.why for ailment in ailments):
        removed = list(graph.remove_strays(house))
        mended.done += removed
        if removed:
            return
    if not ailments:
        return
    with lock_folder(house.settings.data), house.writing_graph() as writable:
        aside = writable.renew()
    was = f"set aside as {aside}, and " if aside else ""
    mended.done.append(f"the graph was {was}written again from the catalogue")
