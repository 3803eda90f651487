"""The bucket shelf: the contract on a real S3 server, and what only a bucket does."""

from __future__ import annotations

import hashlib
import io
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from rehi.engines.bucket import BucketShelf
from rehi.engines.bucket.store import Store
from rehi.engines.folder import FolderShelf
from rehi.errors import (
    ArchiveAway,
    ArchiveError,
    CatalogueAway,
    EngineError,
    ObjectDiffers,
    RecordMissing,
    RehiError,
)
from rehi.model.version import RecordRef
from rehi.ports import Shelf
from rehi.testing.contracts.shelf import ShelfContract
from rehi.testing.s3 import BUCKET, S3Server
from rehi.testing.waiting import PATIENCE, wait_until

OpenShelf = Callable[..., BucketShelf]


@pytest.fixture
def store(s3: S3Server) -> Store:
    """An empty prefix."""
    return Store(f"s3://{BUCKET}/{secrets.token_hex(6)}/archive", endpoint=s3.endpoint)


@pytest.fixture
def open_bucket(store: Store, tmp_path: Path) -> Iterator[OpenShelf]:
    """Shelves of that prefix, each with a local folder of a given name."""
    opened: list[BucketShelf] = []

    def open_bucket(folder: str = "here", *, uploads: bool = True, local_bytes: int = 0) -> BucketShelf:
        opened.append(BucketShelf(store, tmp_path / folder, local_bytes=local_bytes))
        if uploads:
            opened[-1].start_uploads()
        return opened[-1]

    yield open_bucket
    for shelf in opened:
        shelf.close()


class TestBucketShelf(ShelfContract):
    """Files are brought as soon as they are sealed, and nothing stays here: at any moment they may be read from there."""

    @pytest.fixture
    def open_shelf(self, open_bucket: OpenShelf) -> Callable[[], Shelf]:
        return open_bucket


class TestBucketShelfThatBringsNothing(ShelfContract):
    """As worker processes and commands that only read have it."""

    @pytest.fixture
    def open_shelf(self, open_bucket: OpenShelf) -> Callable[[], Shelf]:
        return lambda: open_bucket(uploads=False)


def read(shelf: Shelf, ref: RecordRef) -> bytes:
    with shelf.open(ref) as stream:
        return stream.read()


def local_names(tmp_path: Path, folder: str = "here") -> list[str]:
    return sorted(path.name for path in (tmp_path / folder).iterdir() if path.is_file())


def test_a_sealed_file_goes_to_the_bucket_and_is_read_from_there_by_range(
    open_bucket: OpenShelf, store: Store, tmp_path: Path
) -> None:
    shelf = open_bucket()
    refs = [shelf.append("a.warc.gz", [os.urandom(1_000)]) for _ in range(3)]
    shelf.append("b.warc.gz", [b"open"])
    content = [read(shelf, ref) for ref in refs]
    shelf.seal("a.warc.gz")
    assert shelf.wait(PATIENCE)
    shelf.sync()
    assert local_names(tmp_path) == ["b.warc.gz"]
    elsewhere = open_bucket("elsewhere", uploads=False)
    assert [read(elsewhere, ref) for ref in refs] == [read(shelf, ref) for ref in refs] == content
    assert elsewhere.files() == [("a.warc.gz", 3_000)]
    assert shelf.files() == [("a.warc.gz", 3_000), ("b.warc.gz", 4)]
    with elsewhere.open(refs[1]) as stream:
        assert stream.read(400) + stream.read(600) + stream.read(1) == content[1]
    assert read(elsewhere, RecordRef("a.warc.gz", 3_000, 0)) == b""
    for lost in (RecordRef("a.warc.gz", 2_999, 2), RecordRef("a.warc.gz", 3_001, 5), RecordRef("a.warc.gz", -1, 2)):
        with pytest.raises(RecordMissing, match=r"a\.warc\.gz"):
            elsewhere.open(lost)
    assert not (tmp_path / "elsewhere").exists()


def test_a_large_file_goes_in_parts_and_is_read_in_windows(
    open_bucket: OpenShelf, store: Store, tmp_path: Path
) -> None:
    shelf = open_bucket()
    content = random.Random(1).randbytes(20_000_001)
    ref = shelf.append("large.warc.gz", [content])
    shelf.seal("large.warc.gz")
    assert shelf.wait(PATIENCE)
    assert local_names(tmp_path) == []
    assert store.list(".incoming") == []
    digest, longest = hashlib.sha256(), 0
    with shelf.open(ref) as stream:
        assert isinstance(stream, io.BufferedReader)
        while chunk := stream.read1(100_000_000):
            digest.update(chunk)
            longest = max(longest, len(chunk))
    assert digest.digest() == hashlib.sha256(content).digest()
    assert longest <= 8_388_608
    assert read(shelf, RecordRef("large.warc.gz", 17_000_000, 3_000_001)) == content[17_000_000:]


def test_local_copies_stay_while_there_is_room_and_the_oldest_go_first(open_bucket: OpenShelf, tmp_path: Path) -> None:
    shelf = open_bucket(local_bytes=250)
    for name in ("c.bin", "a.bin", "b.bin"):
        shelf.append(name, [b"x" * 100])
        shelf.seal(name)
        assert shelf.wait(PATIENCE)
        time.sleep(0.02)  # the file system's clock moves on; a longer pause does no harm
    assert local_names(tmp_path) == ["a.bin", "b.bin"]
    shelf.close()
    assert open_bucket(local_bytes=100).wait(PATIENCE)
    assert local_names(tmp_path) == ["b.bin"]


def test_a_copy_that_the_bucket_has_lost_is_brought_again_and_not_removed(
    open_bucket: OpenShelf, store: Store, tmp_path: Path
) -> None:
    shelf = open_bucket(local_bytes=1_000)
    ref = shelf.append("a.bin", [b"precious"])
    shelf.seal("a.bin")
    assert shelf.wait(PATIENCE)
    shelf.close()
    store.delete("a.bin")
    again = open_bucket(local_bytes=0)
    wait_until(lambda: not local_names(tmp_path), what="the copy is in the bucket again, and no longer here")
    assert read(again, ref) == b"precious"


def test_nothing_is_appended_to_a_sealed_file(open_bucket: OpenShelf, tmp_path: Path) -> None:
    shelf = open_bucket(uploads=False)
    shelf.append("a.bin", [b"whole"])
    shelf.seal("a.bin")
    with pytest.raises(ArchiveError, match="sealed"):
        shelf.append("a.bin", [b"more"])
    shelf.set_aside("a.bin", 2)
    assert shelf.files() == [("a.bin", 5)]
    shelf.close()
    assert open_bucket().wait(PATIENCE)
    for folder in ("here", "elsewhere"):
        with pytest.raises(ArchiveError, match="nothing can be appended"):
            open_bucket(folder, uploads=False).append("a.bin", [b"more"])
    assert open_bucket("elsewhere", uploads=False).files() == [("a.bin", 5)]


def test_an_object_of_other_bytes_is_named_and_the_local_file_stays(
    open_bucket: OpenShelf, store: Store, tmp_path: Path
) -> None:
    store.write("a.bin", b"theirs!")
    store.write("same.bin", b"the same bytes")
    reports: list[tuple[str, RehiError | None]] = []
    here = BucketShelf(store, tmp_path / "here")
    local = FolderShelf(tmp_path / "here")
    for name, text in (("a.bin", b"ours..."), ("same.bin", b"the same bytes"), ("z.bin", b"ours")):
        local.append(name, [text])
        local.seal(name)
        here.seal(name)
    here.start_uploads(lambda file, error: reports.append((file, error)))
    assert not here.wait(PATIENCE)
    with pytest.raises(EngineError, match=r"a\.bin stays in the data folder"):
        here.check()
    assert local_names(tmp_path) == ["a.bin"]
    assert [(file, type(error)) for file, error in reports] == [
        (store.uri, type(None)), ("a.bin", ObjectDiffers), ("same.bin", type(None)), ("z.bin", type(None)),
    ]  # fmt: skip
    assert "other bytes under the name a.bin" in here.upload_errors()[0][1]
    assert read(here, RecordRef("a.bin", 0, 7)) == b"ours..."
    assert read(open_bucket("elsewhere", uploads=False), RecordRef("a.bin", 0, 7)) == b"theirs!"
    here.close()


def test_a_catalogue_that_is_away_is_no_fault_of_the_uploads(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[str] = []

    def report(file: str, error: RehiError | None) -> None:
        asked.append(file)
        if len(asked) == 2:
            raise CatalogueAway("the database is away")

    here = BucketShelf(store, tmp_path / "here")
    local = FolderShelf(tmp_path / "here")
    for name in ("a.bin", "b.bin"):
        local.append(name, [b"ours"])
        local.seal(name)
        here.seal(name)
    here.start_uploads(report)
    wait_until(lambda: "b.bin" in asked, what="it goes on after a pause")
    here.close()
    assert asked == [store.uri, "a.bin", "b.bin"]
    assert not [record for record in caplog.records if record.exc_info]


def test_a_file_that_is_put_again_is_replaced_in_the_bucket(open_bucket: OpenShelf, store: Store) -> None:
    shelf = open_bucket()
    for text in (b"first", b"second", b"the last"):
        shelf.put("a.cdxj", [text])
    assert shelf.wait(PATIENCE)
    assert store.list()[0].size == 8
    assert read(open_bucket("elsewhere", uploads=False), RecordRef("a.cdxj", 0, 8)) == b"the last"


def test_what_another_process_brings_is_seen_at_once(open_bucket: OpenShelf, tmp_path: Path) -> None:
    reader, writer = open_bucket("reader", uploads=False), open_bucket("writer")
    for number in range(3):
        ref = RecordRef(f"{number}.bin", 0, 4)
        with pytest.raises(RecordMissing):
            reader.open(ref)
        writer.append(ref.file, [b"done"])
        writer.seal(ref.file)
        assert writer.wait(PATIENCE)
        assert read(reader, ref) == b"done"
        assert (ref.file, 4) in reader.files()
        assert reader.has(ref.file)


def test_what_lay_in_the_folder_before_there_was_a_bucket_is_brought(open_bucket: OpenShelf, tmp_path: Path) -> None:
    folder = FolderShelf(tmp_path / "here")
    for name in ("rehi-1.warc.gz", "rehi-2.warc.gz"):
        folder.append(name, [name.encode()])
    for name in ("rehi-1.cdxj", "moves-00001.txt"):
        folder.put(name, [b"whole"])
    folder.close()
    assert open_bucket().wait(PATIENCE)
    assert local_names(tmp_path) == ["rehi-2.warc.gz"]
    assert [name for name, _ in open_bucket("elsewhere", uploads=False).files()] == [
        "moves-00001.txt", "rehi-1.cdxj", "rehi-1.warc.gz",
    ]  # fmt: skip


def test_while_the_server_is_away_files_pile_up_and_afterwards_they_are_brought(
    s3: S3Server, open_bucket: OpenShelf, tmp_path: Path
) -> None:
    shelf = open_bucket()
    before = shelf.append("a.bin", [b"before"])
    shelf.seal("a.bin")
    assert shelf.wait(PATIENCE)
    s3.stop()
    try:
        refs = [shelf.append(name, [name.encode()]) for name in ("b.bin", "c.bin")]
        for ref in refs:
            shelf.seal(ref.file)
        assert not shelf.wait(PATIENCE)
        assert local_names(tmp_path) == ["b.bin", "c.bin"]
        assert [read(shelf, ref) for ref in refs] == [b"b.bin", b"c.bin"]
        for _ in range(2):  # the second time it is remembered
            with pytest.raises(ArchiveAway, match="listing"):
                shelf.has("other.bin")
        with pytest.raises(ArchiveAway, match="listing"):
            shelf.reach()
        with pytest.raises(ArchiveAway, match=r"a\.bin.*nobody answers"):
            shelf.open(before)
        with pytest.raises(ArchiveAway, match="listing"):
            shelf.files()
        with pytest.raises(ArchiveAway, match="removing"):
            shelf.remove("b.bin")
        assert [file for file, _ in shelf.upload_errors()] == ["b.bin"]
        with pytest.raises(EngineError, match="nobody answers"):
            open_bucket("elsewhere")
    finally:
        s3.start()
    # The pause between two attempts has grown to as much as a minute by now.
    wait_until(lambda: not local_names(tmp_path), what="all files are in the bucket, and none here", seconds=300)
    assert [read(shelf, ref) for ref in (before, *refs)] == [b"before", b"b.bin", b"c.bin"]
    shelf.reach()
    assert not shelf.has("other.bin")
    assert shelf.upload_errors() == []
    assert "0 files wait" in shelf.check()


BRINGER = """
import sys
from pathlib import Path
from rehi.engines.bucket import open_shelf
shelf = open_shelf(sys.argv[1], folder=Path(sys.argv[2]), endpoint=sys.argv[3])
shelf.start_uploads()
for number, letter in enumerate(sys.argv[4]):
    name = f"{letter}.warc.gz"
    if not shelf.has(name):
        shelf.append(name, [letter.encode() * (18_000_000 if number % 2 else 300_000)])
        shelf.seal(name)
        sys.stdout.write(name + "\\n")
        sys.stdout.flush()
sys.stdout.write("\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def test_a_kill_in_the_middle_of_uploads_loses_nothing(
    s3: S3Server, store: Store, open_bucket: OpenShelf, tmp_path: Path
) -> None:
    """Killed at random moments; whatever is visible is whole, and what was sealed is there or still here."""
    chance, letters, sealed, interrupted = random.Random(7), "abcdefghijklmnop", set(), 0
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", BRINGER, store.uri, str(tmp_path / "here"), s3.endpoint, letters],
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
        )
        assert process.stdout is not None
        for line in islice(process.stdout, chance.randint(1, 6)):
            sealed.add(line)
            if line == b"\n":  # all are sealed, and the last are on their way
                break
        process.send_signal(signal.SIGKILL)
        sealed.update(process.communicate()[0].splitlines(keepends=True))
        interrupted += bool(local_names(tmp_path))
        for stored in store.list():
            whole = 18_000_000 if letters.index(stored.name[0]) % 2 else 300_000
            assert stored.size == whole
    names = {line.decode().strip() for line in sealed} - {""}
    assert names
    assert interrupted
    shelf = open_bucket()
    assert shelf.wait(PATIENCE)
    assert not names & set(local_names(tmp_path))
    there = dict(open_bucket("elsewhere", uploads=False).files())
    for name in names:
        content = read(shelf, RecordRef(name, 0, there[name]))
        assert content == name[:1].encode() * len(content)
    wait_until(
        lambda: _no_leftovers(open_bucket, store), what="a start after the last upload leaves nothing unfinished"
    )


def _no_leftovers(open_bucket: OpenShelf, store: Store) -> bool:
    """Start once more and look: the server may have ended a killed process's upload after the start before."""
    assert open_bucket().wait(PATIENCE)
    return not list(store.list(".incoming"))


def test_what_a_kill_has_left_of_a_file_that_arrived_is_removed_at_the_next_start(
    open_bucket: OpenShelf, store: Store
) -> None:
    store.write("a.warc.gz", b"whole")
    store.write(".incoming/a.warc.gz.0a1b", b"whole")
    store.write(".incoming/b.warc.gz.2c3d", b"another worker's, which is being uploaded")
    assert open_bucket().wait(PATIENCE)
    assert [stored.name for stored in store.list(".incoming")] == [".incoming/b.warc.gz.2c3d"]
    assert store.find("a.warc.gz") is not None


def test_what_the_server_can_do_is_said_in_one_line(open_bucket: OpenShelf, store: Store) -> None:
    line = open_bucket(uploads=False).check()
    assert line == (
        f"{store.uri}: reads ranges, conditional put, conditional copy, lists new objects at once; "
        "0 files wait to be brought"
    )
    assert store.list(".probe") == []
