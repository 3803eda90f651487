"""Verification: whether all that was kept is there, and is what it was."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from rehi.app import House, lock_folder, utc_now
from rehi.archive import Archive, Walk, WholeRecord, is_derived
from rehi.errors import RecordDamaged, RecordMissing
from rehi.model.inventory import KnownBody, KnownFile
from rehi.model.problem import Problem, Stage

CHUNK = 1 << 20
ADVICE = "Bring the file back from a copy, then run `rehi archive verify` again; all else stays readable."


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it was kept."""

    file: str
    offset: int
    code: str
    why: str


@dataclass(slots=True)
class Verified:
    """What was looked at, and what is wrong."""

    files: int = 0
    records: int = 0
    bodies: int = 0
    bytes: int = 0
    faults: list[Fault] = field(default_factory=list)


def archive_files(house: House) -> list[KnownFile]:
    """Return the files of the archive that the catalogue knows of."""
    return [file for file in house.catalogue.known_files() if not is_derived(file.name)]


def archive_size(house: House) -> int:
    """Return how many bytes a full check reads."""
    return sum(walk.size for walk in house.archive.walks())


def verify_all(house: House, *, on_progress: Callable[[int], None] = lambda _: None) -> Verified:
    """Read every record of every file, check all digests, and look for every body that the catalogue knows of."""
    with lock_folder(house.settings.data, name="compact.lock"):  # no file may be replaced while it is read
        # Before the files are read: what comes meanwhile is not looked for.
        known = {file.name: file.known_end for file in archive_files(house)}
        expected = house.catalogue.bodies()
        done = Verified()
        places = {walk.name: _go_through(house, walk, known, done, on_progress) for walk in house.archive.walks()}
        missing = {name for name in known if not house.archive.has_file(name)}
        done.faults += [Fault(name, 0, RecordMissing.code, "the file is not there") for name in sorted(missing)]
        done.faults += _missing(house, places, missing, expected)
    _note(house, done, utc_now())
    return done


def _go_through(
    house: House, walk: Walk, known: Mapping[str, int], done: Verified, on_progress: Callable[[int], None]
) -> array[int]:
    """Read one file; the offsets of its whole records, in order. What somebody may be writing is left out."""
    offsets, size, open_end = array("Q"), walk.size, not house.archive.is_sealed(walk.name)
    if open_end and known.get(walk.name):
        walk.size = min(size, known[walk.name])
    for item in walk.records():
        if isinstance(item, WholeRecord):
            offsets.append(item.ref.offset)
            _count(done, item)
        elif not (open_end and walk.name not in known and item.ref.end == size):
            done.faults.append(Fault(walk.name, item.ref.offset, RecordDamaged.code, item.why))
        on_progress(done.bytes + item.ref.end)
    done.files += 1
    done.bytes += size
    return offsets


def verify_sample(house: House, count: int, *, on_progress: Callable[[int], None] = lambda _: None) -> Verified:
    """Read so many bodies, chosen by lot, and check their digests."""
    done, files = Verified(), set()
    for body in house.catalogue.sample_bodies(count):
        files.add(body.place.file)
        done.bodies += 1
        done.bytes += body.size
        done.faults += _faults_of(house.archive, body)
        on_progress(done.bodies)
    done.files = len(files)
    _note(house, done, utc_now())
    return done


def _count(done: Verified, item: WholeRecord) -> None:
    done.records += 1
    done.bodies += item.kept is not None and item.kept.body is not None


def _faults_of(archive: Archive, body: KnownBody) -> Iterator[Fault]:
    """Read a body to its end, and compare its digest with what the catalogue says."""
    digest, place = sha256(), body.place
    try:
        with archive.open_body(place) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    except (RecordDamaged, RecordMissing) as error:
        yield Fault(place.file, place.offset, error.code, str(error))
        return
    if f"sha256:{digest.hexdigest()}" != body.digest:
        yield Fault(place.file, place.offset, RecordDamaged.code, f"it is not the body {body.digest}")


def _missing(
    house: House, places: dict[str, array[int]], files: set[str], expected: Iterable[KnownBody]
) -> Iterator[Fault]:
    """Yield bodies that the catalogue knows of and the files that are there do not hold.

    Those in files that were not gone through are read: somebody else's that were adopted, and new ones.
    """
    for body in expected:
        place = house.archive.place_of(body.place)
        if body.place.file in files:
            continue
        if place.file not in places:
            yield from _faults_of(house.archive, body)
        elif not _holds(places[place.file], place.offset):
            yield Fault(place.file, place.offset, RecordMissing.code, f"the body {body.digest} is not there")


def _holds(offsets: array[int], offset: int) -> bool:
    at = bisect_left(offsets, offset)
    return at < len(offsets) and offsets[at] == offset


def _note(house: House, done: Verified, now: datetime) -> None:
    """Put what is wrong on the problems list."""
    house.catalogue.note([_problem(fault, now) for fault in done.faults])


def _problem(fault: Fault, now: datetime) -> Problem:
    error = (RecordMissing if fault.code == RecordMissing.code else RecordDamaged)(fault.why)
    return Problem.of(error, stage=Stage.ARCHIVE, subject=f"{fault.file}:{fault.offset}", at=now, advice=ADVICE)
