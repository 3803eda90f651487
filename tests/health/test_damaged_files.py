"""Records of the archive's files are damaged: the files are written anew without them, and every tool reads them to their ends."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from rehi.app import House
from rehi.archive import WholeRecord
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.health import mend
from rehi.operations.reindex import reindex
from rehi.operations.verification import verify_all
from rehi.testing.waiting import wait_until
from tests.health.conftest import settings_of
from tests.health.test_mending import ailments
from tests.keeper import Keeper, at

Record = tuple[str, int, int, str]  # file, offset, length, identifier
Version = tuple[str, int]  # URL and number


def records_of(data: Path) -> list[Record]:
    """All records of the archive, in order."""
    with House(settings_of(data)) as house:
        items = [item for walk in house.archive.walks() for item in walk.records()]
    assert all(isinstance(item, WholeRecord) for item in items)
    return [(*_place(item), item.fields.get("WARC-Record-ID")) for item in items if isinstance(item, WholeRecord)]


def _place(item: WholeRecord) -> tuple[str, int, int]:
    return item.ref.file, item.ref.offset, item.ref.length


def flip(data: Path, record: Record) -> None:
    """Change some bytes in the middle of a record's gzip member."""
    file, offset, length, _ = record
    path = data / "archive" / file
    raw = bytearray(path.read_bytes())
    for place in range(offset + length // 2, offset + length // 2 + 3):
        raw[place] ^= 0xFF
    path.write_bytes(raw)


def in_one(data: Path) -> set[str]:
    """One record in the middle of the largest file."""
    return _flip_some(data, lambda records: [records[len(records) // 2]])


def in_several(data: Path) -> set[str]:
    """Every fifth record of all files, so that whole ones lie between damaged ones."""
    return _flip_some(data, lambda records: records[2::5], files=None)


def in_neighbours(data: Path) -> set[str]:
    """Three records that follow each other."""
    return _flip_some(data, lambda records: records[2:5])


def in_the_first(data: Path) -> set[str]:
    """The record with which a file begins."""
    return _flip_some(data, lambda records: records[:1])


def in_all_of_a_file(data: Path) -> set[str]:
    """Every record of a file."""
    return _flip_some(data, lambda records: records)


def cut_in_a_record(data: Path) -> set[str]:
    """A file ends in the middle of a record."""
    records = records_of(data)
    file = records[len(records) // 2][0]
    own = [record for record in records if record[0] == file]
    middle = len(own) // 2
    path = data / "archive" / file
    path.write_bytes(path.read_bytes()[: own[middle][1] + own[middle][2] // 2])
    return {record[3] for record in own[middle:]}


def _flip_some(
    data: Path, choose: Callable[[list[Record]], list[Record]], files: int | None = 1
) -> set[str]:  # fmt: skip
    records = records_of(data)
    largest = max({record[0] for record in records}, key=lambda name: ((data / "archive" / name).stat().st_size, name))
    chosen = choose([record for record in records if files is None or record[0] == largest])
    for record in chosen:
        flip(data, record)
    return {record[3] for record in chosen}


WAYS = [in_one, in_several, in_neighbours, in_the_first, in_all_of_a_file, cut_in_a_record]


def bodies_of(data: Path) -> dict[Version, bytes]:
    """The bytes of all versions that can be had."""
    with House(settings_of(data)) as house:
        return dict(_bodies(house))


def _bodies(house: House) -> Iterator[tuple[Version, bytes]]:
    for row in house.catalogue.documents(DocumentFilter(), Page(limit=100))[0]:
        for version in house.catalogue.versions(row.url) if row.versions else ():
            if not version.dropped:
                with house.archive.open_body(version.body) as stream:
                    yield (row.url, version.number), stream.read()


def read_by_others(data: Path) -> list[str]:
    """The identifiers of all records that warcio reads, each with digests that are right."""
    read = []
    for path in sorted((data / "archive").glob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                record.content_stream().read()
                assert record.digest_checker.passed is not False
                read.append(record.rec_headers.get_header("WARC-Record-ID"))
    return read


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_all_whole_records_are_kept_and_other_tools_read_them(data: Path, way: Callable[[Path], set[str]]) -> None:
    before, bodies = records_of(data), bodies_of(data)
    damaged = way(data)
    as_it_was = {path.name: path.read_bytes() for path in (data / "archive").glob("*.warc.gz")}
    mended = mend(settings_of(data))

    kept = [name for _, _, _, name in before if name not in damaged]
    tombstones = [one for one in read_by_others(data) if one not in {name for *_, name in before}]
    assert sorted(read_by_others(data)) == sorted(kept + tombstones)
    assert len(tombstones) in (0, 2)  # with what its file begins with
    for path in (data / "archive").glob("*.damaged"):
        assert path.read_bytes() == as_it_was[path.name.removesuffix(".damaged")]
        assert not path.with_name(path.name.removesuffix(".damaged")).exists()
    assert list((data / "archive").glob("*.damaged"))

    after = bodies_of(data)
    lost = [(one.url, one.number) for one in mended.lost]
    assert {version: bodies[version] for version in after} == after
    assert sorted(lost) == sorted(bodies.keys() - after.keys())
    assert_well(data)
    assert mend(settings_of(data)).done == []


def assert_well(data: Path) -> None:
    with House(settings_of(data)) as house:
        done = verify_all(house)
    assert (done.faults, done.damaged, done.unknown) == ([], [], [])
    assert ailments(data) == []


def test_a_file_that_is_still_open_is_written_anew_too_and_what_comes_goes_into_the_next(data: Path) -> None:
    with House(settings_of(data)) as house:
        keeper = Keeper(house)
        for number in range(6):
            keeper.new(f"http://www.rehemaa.test/open/{number}", bytes([65 + number]) * 900, at(70 + number))
        keeper.close()
    before, bodies = records_of(data), bodies_of(data)
    last = max(record[0] for record in before)
    own = [record for record in before if record[0] == last]
    flip(data, own[-9])
    flip(data, own[-4])
    mended = mend(settings_of(data))
    assert (data / "archive" / f"{last}.damaged").exists()
    assert set(read_by_others(data)) >= {record[3] for record in before} - {own[-9][3], own[-4][3]}
    assert len(bodies_of(data)) == len(bodies) - len(mended.lost)
    assert_well(data)
    with House(settings_of(data)) as house:
        keeper = Keeper(house)
        new = keeper.new("http://www.rehemaa.test/open/later", b"later" * 100, at(90))
        keeper.close()
        assert new.body.file not in {record[0] for record in before}
    assert_well(data)


def test_what_the_catalogue_did_not_know_of_a_file_yet_is_entered(data: Path) -> None:
    """A process was killed after the archive was written: what it kept lies behind the end that the catalogue knows."""
    with House(settings_of(data)) as house:
        known = house.archive_folder
        keeper = Keeper(house)
        keeper.new("http://www.rehemaa.test/known", b"known" * 100, at(70))
        shutil.copy(data / "catalogue.db", data / "older.db")
        keeper.close()
    older = Path(shutil.copytree(data, data.with_name("older")))
    with House(settings_of(data)) as house:
        keeper = Keeper(house)
        keeper.new("http://www.rehemaa.test/unknown", b"unknown" * 100, at(71))
        keeper.close()
    last = max(known.glob("*.warc.gz"))
    shutil.copy(last, older / "archive" / last.name)
    own = [record for record in records_of(older) if record[0] == last.name]
    flip(older, own[-4])  # the request of what is known
    mend(settings_of(older))
    with House(settings_of(older)) as house:
        assert len(house.catalogue.versions("http://www.rehemaa.test/unknown")) == 1
    assert_well(older)


@pytest.mark.parametrize("appears", ["*.damaged", "rehi-*-c1.warc.gz", "*-c1.cdxj", "moves-*.txt"])
def test_a_kill_in_between_costs_nothing(data: Path, appears: str) -> None:
    before, bodies = records_of(data), bodies_of(data)
    damaged = in_several(data)
    command = [sys.executable, "-m", "rehi", "--data", str(data), "doctor", "--mend", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(
            lambda: any((data / "archive").glob(appears)) or process.poll() is not None, what=appears, pause=0.001
        )
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    mend(settings_of(data))
    names = {record[3] for record in before}
    assert sorted(one for one in read_by_others(data) if one in names) == sorted(names - damaged)
    after = bodies_of(data)
    assert {version: bodies[version] for version in after} == after
    assert_well(data)


def test_records_between_two_damaged_ones_are_found_without_a_catalogue(data: Path) -> None:
    records = records_of(data)
    damaged = in_several(data)
    (data / "catalogue.db").unlink()
    with House(settings_of(data)) as house:
        found = {
            item.fields.get("WARC-Record-ID")
            for walk in house.archive.walks(decode_deltas=False)
            for item in walk.records()
            if isinstance(item, WholeRecord)
        }
        reindex(house)
    indexed = {record[3] for record in records if (data / "archive" / record[0].replace(".warc.gz", ".cdxj")).exists()}
    assert len(indexed - damaged - found) <= len(
        damaged
    )  # a delta is in no index: one before the next damage may be missed
    assert len(found) > len(records) * 0.6


def test_an_archive_inside_a_damaged_body_is_no_part_of_ours(data: Path) -> None:
    """A page that is a web archive itself: its records are whole, and somebody else's."""
    inner = (data / "archive" / records_of(data)[0][0]).read_bytes()
    with House(settings_of(data)) as house:
        keeper = Keeper(house)
        for number in range(3):
            body = random.Random(number).randbytes(50) + inner
            keeper.new(
                f"http://www.rehemaa.test/a/{number}.warc.gz", body, at(70 + number), media_type="application/warc"
            )
        keeper.close()
    before = records_of(data)
    flip_start(data, before[-3])
    mend(settings_of(data))
    names = read_by_others(data)
    assert len(names) == len(set(names))
    assert set(names) >= {record[3] for record in before} - {before[-3][3]}
    assert_well(data)


def flip_start(data: Path, record: Record) -> None:
    path = data / "archive" / record[0]
    raw = bytearray(path.read_bytes())
    raw[record[1] + 12] ^= 0xFF
    raw[record[1] + 13] ^= 0xFF
    path.write_bytes(raw)
