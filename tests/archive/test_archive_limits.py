"""The archive at its limits: large bodies, and a disk that is full."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rehi.testing.waiting import PATIENCE

LARGE = """
import hashlib, resource, sys, tempfile
from datetime import UTC, datetime
from pathlib import Path
from rehi.archive import Archive, KeptVisit
from rehi.engines.folder import FolderShelf
from rehi.model.visit import Answer, Visit

body, sha = tempfile.TemporaryFile(), hashlib.sha256()
half = hashlib.shake_256(b"noise").digest(500_000) + b"<p>Tere tulemast! " * 28_000
for _ in range(60):
    body.write(half)
    sha.update(half)
size = body.tell()
body.seek(0)
archive = Archive(FolderShelf(Path(sys.argv[1])), file_bytes=10**9, worker="w1", software="t",
                  clock=lambda: datetime.now(UTC))
answer = Answer(status=200, reason="OK", http_version="1.1", request_headers=(), headers=(), address="",
                body=body, size=size, digest="sha256:" + sha.hexdigest())
visit = Visit(url="http://a.test/", started_at=datetime.now(UTC), seconds=0.0, answer=answer)
small = Answer(status=200, reason="OK", http_version="1.1", request_headers=(), headers=(), address="",
               body=tempfile.TemporaryFile(), size=0, digest="sha256:" + hashlib.sha256().hexdigest())
archive.keep(Visit(url="http://a.test/warm", started_at=datetime.now(UTC), seconds=0.0, answer=small))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ref = archive.keep(visit)
archive.sync()
again = hashlib.sha256()
with archive.open_body(ref) as stream:
    while chunk := stream.read(65_536):
        again.update(chunk)
assert again.digest() == sha.digest()
kept = [item for item in archive.recover(lambda _: 0) if isinstance(item, KeptVisit)]
assert [item.size for item in kept] == [0, size], kept
print(size // 1_000_000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_body_of_sixty_megabytes_passes_through_a_few(folder: Path) -> None:
    megabytes, grown = map(int, _run(LARGE, folder).split())
    assert megabytes >= 60
    assert grown < 8_000, f"{grown} KB more than before"


FULL = """
import hashlib, io, resource, sys
from datetime import UTC, datetime
from pathlib import Path
from rehi.archive import Archive
from rehi.engines.folder import FolderShelf
from rehi.errors import DiskFull
from rehi.model.visit import Answer, Visit

def visit(number, size):
    body = hashlib.shake_256(str(number).encode()).digest(size)
    answer = Answer(status=200, reason="OK", http_version="1.1", request_headers=(), headers=(), address="",
                    body=io.BytesIO(body), size=size, digest="sha256:" + hashlib.sha256(body).hexdigest())
    return Visit(url=f"http://a.test/{number}", started_at=datetime.now(UTC), seconds=0.0, answer=answer)

archive = Archive(FolderShelf(Path(sys.argv[1])), file_bytes=10**9, worker="w1", software="t",
                  clock=lambda: datetime.now(UTC))
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
kept = failed = 0
for number in range(30):
    try:
        archive.keep(visit(number, 100_000))
        kept += 1
    except DiskFull as error:
        failed += 1
archive.sync()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
archive.keep(visit(100, 100_000))
archive.sync()
print(kept + 1, failed)
"""


def test_a_full_disk_costs_only_what_did_not_fit(folder: Path, read_files: Callable[[], list[Any]]) -> None:
    kept, failed = map(int, _run(FULL, folder).split())
    assert (kept, failed) == (10, 21)
    responses = [record for record in read_files() if record.rec_type == "response"]
    assert [len(record.content) for record in responses] == [100_000] * kept


def _run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
