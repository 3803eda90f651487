"""Verification: whether all that was kept is there, and is what it was.

It may run beside a harvest, and what that is just doing is no fault, by the order in which things are looked at: first what
the catalogue knows, then which files are sealed, then their sizes, then the files. What the catalogue knew first was on disk
before. And whatever seems to be missing is looked for once more, at the place that the catalogue names by then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import sha256

from rehi.app import House, lock_folder, utc_now
from rehi.archive import Archive, IndexCheck, KeptVisit, Walk, WholeRecord, index_starts, is_derived, original_name
from rehi.errors import IndexWrong, LiesElsewhere, RecordDamaged, RecordLost, RecordMissing, RehiError
from rehi.model.inventory import KnownBody, KnownFile
from rehi.model.listing import Page
from rehi.model.problem import Problem, Stage
from rehi.model.version import Digest, RecordRef

CHUNK = 1 << 20
ADVICE = (
    "`rehi doctor --mend` brings back what can be, and lists the rest; a copy of the file, if there is one, is better."
)
_VISITS = 500  # looked up at once
_PROBLEMS = 100_000
_ERRORS: tuple[type[RehiError], ...] = (RecordMissing, RecordDamaged, IndexWrong)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it was kept."""

    file: str
    offset: int
    code: str
    why: str
    digest: Digest | None = None  # of the body that can't be had
    length: int = 0  # of the part that is damaged or gone, as far as it is known


@dataclass(slots=True)
class Verified:
    """The result of a verification: how much was read, and what is wrong."""

    files: int = 0
    records: int = 0
    bodies: int = 0
    bytes: int = 0
    faults: list[Fault] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)  # files with bytes that are no record, at which other tools stop
    unknown: list[KeptVisit] = field(default_factory=list)  # visits that the catalogue should know, and does not


@dataclass(frozen=True, slots=True)
class Inventory:
    """What must be there, as the catalogue and the folder said it before anything was read."""

    bodies: Iterator[KnownBody]  # those that were known before the ends
    ends: Mapping[str, int]  # of the files, up to which they are on disk
    sealed: frozenset[str]  # files that nothing was appended to any more
    missing: frozenset[str]  # files that are not there
    lost: frozenset[str]  # places that are known to be damaged for good, as "file:offset"


def take_inventory(house: House) -> Inventory:
    """Note what must be there; the lock ``compact.lock`` must be held while it is looked for."""
    bodies = house.catalogue.bodies()  # which they are is settled here: a body is entered together with its file's end
    known = files_here(house)
    names = {walk.name for walk in house.archive.walks()}
    return Inventory(
        bodies=bodies,
        ends={file.name: file.known_end for file in known},
        sealed=frozenset(name for name in names if house.archive.is_sealed(name)),
        missing=frozenset(file.name for file in known if not house.archive.has_file(file.name)),
        lost=frozenset(_lost_places(house)),
    )


def _lost_places(house: House) -> Iterator[str]:
    """Yield the places of what is lost, as they were noted and where they are by now."""
    problems, _ = house.catalogue.problems(stage=Stage.ARCHIVE, page=Page(limit=_PROBLEMS))
    for subject in (problem.subject for problem in problems if problem.code == RecordLost.code):
        yield subject
        file, _, offset = subject.rpartition(":")
        if offset.isdecimal():
            place = house.archive.place_of(RecordRef(file, int(offset), 0))
            yield f"{place.file}:{place.offset}"


def record_starts(house: House, file: str) -> Iterator[int]:
    """Yield where records of a file begin, as its index and the catalogue know it, whether it was compacted or not."""
    yield from index_starts(house.archive.shelf, file)
    original = original_name(file)
    for offset in house.catalogue.record_starts(original):
        place = house.archive.place_of(RecordRef(original, offset, 0))
        if place.file == file:
            yield place.offset


def archive_files(house: House) -> list[KnownFile]:
    """Return the files of the archive that the catalogue knows of."""
    return [file for file in house.catalogue.known_files() if not is_derived(file.name)]


def files_here(house: House) -> list[KnownFile]:
    """Return the files of the archive that must be here: all of a bucket, but in a folder only this worker's own."""
    shared = bool(house.settings.archive.uri)
    files = (file for file in archive_files(house) if shared or file.owner in ("", house.worker))
    return [file for file in files if file.known_end]  # one that was lost for good has no end any more


def files_elsewhere(house: House) -> frozenset[str]:
    """Return the files of the archive that other workers look after, each in its own folder."""
    if house.archive.shared:
        return frozenset()
    return frozenset(file.name for file in archive_files(house) if file.owner not in ("", house.worker))


def archive_size(house: House) -> int:
    """Return how many bytes a full check reads."""
    return sum(walk.size for walk in house.archive.walks())


def verify_all(house: House, *, on_progress: Callable[[int], None] = lambda _: None) -> Verified:
    """Read every record of every file, check all digests, and look for every body that the catalogue knows of."""
    with lock_folder(house.settings.data, name="compact.lock"):  # no file may be replaced while it is read
        run = _Verification(house, take_inventory(house), on_progress)
        run.go_through_files()
        run.look_for_bodies()
    _note(house, run.done, utc_now())
    return run.done


class _Verification:
    """One verification, file by file and then body by body."""

    def __init__(self, house: House, inventory: Inventory, on_progress: Callable[[int], None]) -> None:
        self.done = Verified()
        self._house, self._inventory, self._on_progress = house, inventory, on_progress
        self._offsets: dict[str, array[int]] = {}  # of whole records, by file and in order
        self._visits: list[KeptVisit] = []

    def go_through_files(self) -> None:
        """Read all files to the ends that they had."""
        for walk in self._house.archive.walks(starts=partial(record_starts, self._house)):
            self._offsets[walk.name] = self._go_through(walk)
        self._look_up_visits()
        self.done.faults += [
            Fault(name, 0, RecordMissing.code, "the file is not there", length=self._inventory.ends[name])
            for name in sorted(self._inventory.missing)
        ]

    def look_for_bodies(self) -> None:
        """Look for every body. Those in files that were not gone through are read: adopted ones, and new ones."""
        archive = self._house.archive
        for body in self._inventory.bodies:
            place = archive.place_of(body.place)
            if body.place.file in self._inventory.missing:
                continue
            if place.file not in self._offsets or not _holds(self._offsets[place.file], place.offset):
                self.done.faults += _look_again(self._house, body)

    def _go_through(self, walk: Walk) -> array[int]:
        """Read one file, and return the offsets of its whole records. What somebody may be writing is left out."""
        known, size = self._inventory.ends.get(walk.name), walk.size
        sealed = walk.name in self._inventory.sealed
        if not sealed and known is not None:
            walk.size = min(size, known)
        offsets, faults = array("Q"), len(self.done.faults)
        damaged = False
        with IndexCheck(self._house.archive.shelf, walk.name) as index:
            for item in walk.records():
                if isinstance(item, WholeRecord):
                    offsets.append(item.ref.offset)
                    index.add(item)
                    self._count(item, acknowledged=known is not None and item.ref.end <= known)
                elif sealed or known is not None or item.ref.end != size:
                    damaged = damaged or not item.whole
                    if f"{walk.name}:{item.ref.offset}" not in self._inventory.lost:
                        self.done.faults.append(
                            Fault(walk.name, item.ref.offset, RecordDamaged.code, item.why, length=item.ref.length)
                        )
                self._on_progress(self.done.bytes + item.ref.end)
            if damaged:
                self.done.damaged.append(walk.name)
            if sealed and not damaged and len(self.done.faults) == faults:
                self.done.faults += [Fault(index.name, 0, IndexWrong.code, why) for why in index.faults()]
        if known is not None and size < known:
            why = f"the file ends at {size:,}, and it was {known:,} bytes long"
            self.done.faults.append(Fault(walk.name, size, RecordMissing.code, why, length=known - size))
        self.done.files += 1
        self.done.bytes += size
        return offsets

    def _count(self, item: WholeRecord, *, acknowledged: bool) -> None:
        self.done.records += 1
        self.done.bodies += item.kept is not None and item.kept.body is not None
        if item.kept is not None and acknowledged:
            self._visits.append(item.kept)
            if len(self._visits) >= _VISITS:
                self._look_up_visits()

    def _look_up_visits(self) -> None:
        """Note the visits that the catalogue does not know, though it knows what lies behind them in their files."""
        wanted = {(kept.url, kept.at): kept for kept in self._visits}
        known = self._house.catalogue.on_record(wanted)
        self.done.unknown += [kept for key, kept in wanted.items() if key not in known]
        self._visits = []


def verify_sample(house: House, count: int, *, on_progress: Callable[[int], None] = lambda _: None) -> Verified:
    """Read so many bodies, chosen by lot, and check their digests."""
    done, files, elsewhere = Verified(), set(), files_elsewhere(house)
    for body in house.catalogue.sample_bodies(count):
        if body.place.file in elsewhere:
            continue
        files.add(body.place.file)
        done.bodies += 1
        done.bytes += body.size
        if list(_faults_of(house.archive, body)):
            done.faults += _look_again(house, body)
        on_progress(done.bodies)
    done.files = len(files)
    _note(house, done, utc_now())
    return done


def _look_again(house: House, body: KnownBody) -> Iterator[Fault]:
    """Read a body that was not where it was looked for, at the place that the catalogue names now, if it is to be there."""
    now = house.catalogue.find_bodies([body.digest]).get(body.digest)
    if now is not None and now.pruned is None:
        yield from _faults_of(house.archive, now)


def _faults_of(archive: Archive, body: KnownBody) -> Iterator[Fault]:
    """Read a body to its end, and compare its digest with what the catalogue says."""
    digest, place = sha256(), body.place
    try:
        with archive.open_body(place) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    except LiesElsewhere as error:  # in a folder, where others look after it; but in a bucket it is to be there for all
        if archive.shared:
            yield Fault(place.file, place.offset, RecordMissing.code, str(error), body.digest)
        return
    except (RecordDamaged, RecordMissing) as error:
        yield Fault(place.file, place.offset, error.code, str(error), body.digest)
        return
    if f"sha256:{digest.hexdigest()}" != body.digest:
        yield Fault(place.file, place.offset, RecordDamaged.code, f"it is not the body {body.digest}", body.digest)


def _holds(offsets: array[int], offset: int) -> bool:
    at = bisect_left(offsets, offset)
    return at < len(offsets) and offsets[at] == offset


def _note(house: House, done: Verified, now: datetime) -> None:
    """Put what is wrong on the problems list."""
    house.catalogue.note([_problem(fault, now) for fault in done.faults])


def _problem(fault: Fault, now: datetime) -> Problem:
    error = next((kind for kind in _ERRORS if kind.code == fault.code), RecordDamaged)(fault.why)
    return Problem.of(error, stage=Stage.ARCHIVE, subject=f"{fault.file}:{fault.offset}", at=now, advice=ADVICE)
