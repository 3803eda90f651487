"""Recovery keeps every whole record, and sets aside what was torn."""

from __future__ import annotations

import gzip
import os
import random
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from rehi.archive import Archive, KeptVisit, TornPart
from rehi.engines.folder import FolderShelf
from rehi.model.version import RecordRef
from rehi.model.visit import Visit

MakeVisit = Callable[..., Visit]
ReadFiles = Callable[[], list[Any]]
OpenArchive = Callable[..., Archive]


def unknown(_: str) -> int:
    return 0


def kept_by(archive: Archive, known_end: Callable[[str], int] = unknown) -> list[KeptVisit]:
    return [item for item in archive.recover(known_end) if isinstance(item, KeptVisit)]


def test_recovery_tells_of_each_visit_what_was_known_of_it(archive: Archive, make_visit: MakeVisit) -> None:
    page = make_visit("http://a.test/leht", b"Tere", headers=(("ETag", '"1"'), ("Content-Type", "text/html; x=y")))
    moved = make_visit("http://a.test/vana", b"", status=302, headers=(("Location", "../uus"),))
    same = make_visit("http://b.test/", b"Tere")
    unmodified = make_visit("http://a.test/leht", b"", status=304, headers=())
    refs = [archive.keep(page), archive.keep(moved)]
    refs += [archive.keep_duplicate(visit, body=refs[0]) for visit in (same, unmodified)]
    kept = kept_by(archive)
    assert [item.record for item in kept] == refs
    assert [item.url for item in kept] == [visit.url for visit in (page, moved, same, unmodified)]
    assert [item.at for item in kept] == [visit.started_at for visit in (page, moved, same, unmodified)]
    assert [item.status for item in kept] == [200, 302, 200, 304]
    assert [item.body for item in kept] == [refs[0], refs[1], None, None]
    assert [item.revisit for item in kept] == [False, False, True, True]
    assert [item.size for item in kept] == [4, 0, 4, 0]
    assert [item.redirect_to for item in kept] == ["", "http://a.test/uus", "", ""]
    assert page.answer is not None
    assert {item.digest for item in (kept[0], kept[2], kept[3])} == {page.answer.digest}
    assert (kept[0].media_type, kept[0].headers[0]) == ("text/html; x=y", ("ETag", '"1"'))


def test_only_what_the_catalogue_does_not_know_is_told(archive: Archive, make_visit: MakeVisit) -> None:
    refs = [archive.keep(make_visit(f"http://a.test/{n}")) for n in range(4)]
    for known in range(4):
        end = refs[known].end
        assert [item.record for item in kept_by(archive, lambda _, end=end: end)] == refs[known + 1 :]  # type: ignore[misc]


def test_an_end_inside_a_record_loses_nothing(archive: Archive, make_visit: MakeVisit, shelf: FolderShelf) -> None:
    refs = [archive.keep(make_visit(f"http://a.test/{n}")) for n in range(3)]
    before = shelf.files()
    for end in range(refs[1].offset + 1, before[0][1] + 20):
        expected = [ref for ref in refs if ref.end > end]
        assert [item.record for item in kept_by(archive, lambda _, end=end: end)] == expected  # type: ignore[misc]
    assert shelf.files() == before


def test_wherever_the_last_record_is_torn_all_before_it_stays(
    open_archive: OpenArchive, make_visit: MakeVisit, folder: Path, read_files: ReadFiles
) -> None:
    archive = open_archive()
    refs = [archive.keep(make_visit(f"http://a.test/{n}", b"body %d" % n)) for n in range(3)]
    archive.sync()
    file = folder / refs[2].file
    whole = file.read_bytes()
    for cut in range(refs[2].offset + 1, refs[2].end):
        file.write_bytes(whole[:cut])
        shelf = FolderShelf(folder)
        recovered = list(open_archive(shelf=shelf).recover(lambda _: refs[0].end))
        assert [item.record for item in recovered if isinstance(item, KeptVisit)] == [refs[1]]
        assert recovered[-1] == TornPart(
            file=file.name, offset=refs[2].offset, length=cut - refs[2].offset, set_aside=True
        )
        assert file.stat().st_size == refs[2].offset
        if cut % 50 == 0:
            assert open_archive(shelf=shelf).keep(make_visit()).file == file.name
            shelf.sync()
            assert len(read_files()) == 1 + 2 + 2 + 1 + 2
        shelf.close()
    assert whole[refs[2].offset : -1] in [path.read_bytes() for path in (folder / "torn").iterdir()]


@pytest.mark.parametrize("tail", [b"\0" * 5_000, b"\x1f\x8b\x08", b"not gzip at all" * 9, os.urandom(70_000)])
def test_a_tail_of_rubbish_is_set_aside_and_writing_goes_on(
    open_archive: OpenArchive, make_visit: MakeVisit, folder: Path, read_files: ReadFiles, tail: bytes
) -> None:
    ref = open_archive().keep(make_visit())
    open_archive().sync()
    with (folder / ref.file).open("ab") as file:
        file.write(tail)
    for end in (0, ref.end):
        with (folder / ref.file).open("ab") as file:
            file.truncate(ref.end)
            file.write(tail)
        shelf = FolderShelf(folder)
        archive = open_archive(shelf=shelf)
        recovered = list(archive.recover(lambda _, end=end: end))  # type: ignore[misc]
        assert recovered[-1] == TornPart(file=ref.file, offset=ref.end, length=len(tail), set_aside=True)
        assert len(recovered) == (2 if end == 0 else 1)
        assert archive.keep(make_visit()).file == ref.file
        archive.sync()
        assert len(read_files()) == 5
        shelf.close()


def test_damage_in_the_middle_is_left_and_what_follows_is_found(
    archive: Archive, make_visit: MakeVisit, folder: Path
) -> None:
    chance = random.Random(7)
    refs = [archive.keep(make_visit(f"http://a.test/{n}", chance.randbytes(300))) for n in range(4)]
    archive.sync()
    file = folder / refs[0].file
    whole = file.read_bytes()
    for _ in range(150):
        at = chance.randrange(refs[1].offset + 60, refs[1].end - 30)
        damaged = whole[:at] + chance.randbytes(20) + whole[at + 20 :]
        file.write_bytes(damaged)
        recovered = list(archive.recover(unknown))
        assert [item.record for item in recovered if isinstance(item, KeptVisit)] == [refs[0], refs[2], refs[3]]
        torn = [item for item in recovered if isinstance(item, TornPart)]
        assert [(item.offset, item.set_aside) for item in torn] == [(refs[1].offset, False)]
        assert file.read_bytes() == damaged
    assert archive.keep(make_visit()).file != refs[0].file, "other tools would not find it behind the damage"


def test_an_archive_inside_a_torn_body_does_not_pose_as_ours(
    open_archive: OpenArchive, make_visit: MakeVisit, folder: Path, tmp_path: Path
) -> None:
    theirs = FolderShelf(tmp_path / "theirs")
    bait = open_archive(shelf=theirs).keep(make_visit("http://forged.test/", os.urandom(400)))
    forged = (tmp_path / "theirs" / bait.file).read_bytes()[bait.offset : bait.end]
    theirs.close()
    body = os.urandom(1_000) + forged + os.urandom(1_000)
    ref = open_archive().keep(make_visit("http://a.test/dump.warc.gz", body))
    open_archive().sync()
    file = folder / ref.file
    content = file.read_bytes()
    stored = zlib.compressobj(0, zlib.DEFLATED, 31)
    whole = content[: ref.offset] + stored.compress(gzip.decompress(content[ref.offset :])) + stored.flush()
    assert forged in whole, "the bait must lie there in plain sight"
    rotten = whole[: ref.offset + 10] + os.urandom(200) + whole[ref.offset + 210 :]
    for content in (whole[:-5], rotten):
        file.write_bytes(content)
        shelf = FolderShelf(folder)
        recovered = list(open_archive(shelf=shelf).recover(unknown))
        assert not [item for item in recovered if isinstance(item, KeptVisit)]
        shelf.close()


def test_files_of_other_workers_are_left_alone(open_archive: OpenArchive, make_visit: MakeVisit, folder: Path) -> None:
    other = open_archive(worker="w2")
    ref = other.keep(make_visit())
    other.sync()
    with (folder / ref.file).open("ab") as file:
        file.write(b"w2 is in the middle of writing this")
    size = (folder / ref.file).stat().st_size
    assert list(open_archive(worker="w1").recover(unknown)) == []
    assert (folder / ref.file).stat().st_size == size


WRITER = """
import hashlib, io, sys
from datetime import UTC, datetime
from pathlib import Path
from rehi.archive import Archive, KeptVisit
from rehi.engines.folder import FolderShelf
from rehi.model.visit import Answer, Visit

folder, life, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
archive = Archive(FolderShelf(folder), file_bytes=400_000, worker="w1", software="test",
                  clock=lambda: datetime.now(UTC))
known = dict(line.split() for line in Path(sys.argv[4]).read_text().splitlines())
for item in archive.recover(lambda file: int(known.get(file, 0))):
    if isinstance(item, KeptVisit):
        print("found", item.url, item.record.file, item.record.offset, item.record.length, flush=True)
print("begin", flush=True)
noise = hashlib.shake_256(life.encode()).digest(100_000)
first = None
for number in range(10**9):
    batch = []
    for part in range(4):
        url = f"http://a.test/{life}/{number}/{part}"
        body = url.encode() + noise[: (seed * (part + 1) * (number + 1) * 7_919) % 60_000]
        answer = Answer(status=200, reason="OK", http_version="1.1", request_headers=(), headers=(), address="",
                        body=io.BytesIO(body), size=len(body), digest="sha256:" + hashlib.sha256(body).hexdigest())
        ref = archive.keep(Visit(url=url, started_at=datetime.now(UTC), seconds=0.0, answer=answer))
        batch.append(("kept", url, ref.file, ref.offset, ref.length))
    archive.sync()
    for line in batch:
        print(*line, flush=True)
"""


def test_after_kills_at_any_moment_every_acknowledged_record_is_there_once(
    folder: Path, tmp_path: Path, read_files: ReadFiles, open_archive: OpenArchive
) -> None:
    chance = random.Random(2024)
    entered: dict[
        str, RecordRef
    ] = {}  # what a catalogue would know: told by recovery, or half of what was acknowledged
    acknowledged: dict[str, RecordRef] = {}
    known = tmp_path / "known"
    for life in range(16):
        ends: dict[str, int] = {}
        for ref in entered.values():
            ends[ref.file] = max(ends.get(ref.file, 0), ref.end)
        known.write_text("".join(f"{file} {end}\n" for file, end in ends.items()))
        lines = _live_and_die(folder, known, life, batches=chance.randint(0, 6), seconds=chance.uniform(0.0, 0.01))
        words = [line.split() for line in lines if line.endswith("\n")]
        kept = {url: RecordRef(file, int(at), int(size)) for word, url, file, at, size in _full(words, "kept")}
        recovered = {url: RecordRef(file, int(at), int(size)) for word, url, file, at, size in _full(words, "found")}
        assert not recovered.keys() & entered.keys(), "nothing is told twice"
        acknowledged |= kept
        entered |= recovered
        if ["begin"] in words:
            assert acknowledged.keys() - kept.keys() <= entered.keys(), "recovery told all that was acknowledged before"
        if chance.random() < 0.5:
            entered |= kept
    archive = open_archive(file_bytes=400_000)
    ends = {}
    for ref in entered.values():
        ends[ref.file] = max(ends.get(ref.file, 0), ref.end)
    entered |= {item.url: item.record for item in kept_by(archive, lambda file: ends.get(file, 0))}
    assert len(acknowledged) > 100
    assert {url: entered[url] for url in acknowledged} == acknowledged
    for url, ref in acknowledged.items():
        with archive.open_body(ref) as body:
            assert body.read().startswith(url.encode())
    urls = [r.rec_headers.get_header("WARC-Target-URI") for r in read_files() if r.rec_type == "response"]
    assert len(urls) == len(set(urls))
    assert set(urls) == set(entered)


def _full(words: list[list[str]], word: str) -> list[list[str]]:
    return [line for line in words if line[0] == word and len(line) == 5]


def _live_and_die(folder: Path, known: Path, life: int, *, batches: int, seconds: float) -> list[str]:
    """What a writer says until it is killed: a moment after so many batches, of four lines each, are acknowledged."""
    command = [sys.executable, "-c", WRITER, str(folder), str(life), str(life + 3), str(known)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = []
        for line in child.stdout:
            lines.append(line)
            if line == "begin\n":
                break
        lines += islice(child.stdout, 4 * batches)
        time.sleep(seconds)  # whatever becomes of it on a busy machine: any moment will do
        child.send_signal(signal.SIGKILL)
        return lines + child.stdout.readlines()
