"""A large file of the archive benchmark: made, kept in two versions, and read back, each by a process of its own."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from time import process_time
from typing import BinaryIO

CHUNK = 1 << 20
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


def make(folder: Path, megabytes: int) -> dict[str, float]:
    """Write both versions: a table of numbers, and the same with some cells changed and rows appended."""
    folder.mkdir(parents=True)
    for number in (0, 1):
        with (folder / f"version-{number}.csv").open("wb") as file:
            for piece in _pieces(megabytes, number):
                file.write(piece)
    return {}


def _pieces(megabytes: int, number: int) -> Iterator[bytes]:
    """About a MB at a time."""
    for piece in range(megabytes + number):
        random = Random(piece)  # noqa: S311 - not for secrets
        cells = [f"{value:x}" for value in random.choices(range(1 << 32), k=100_000)]
        if number:
            cells[random.randrange(len(cells))] = "changed"
        lines = (";".join(cells[start : start + 5]) for start in range(0, len(cells), 5))
        yield f"{piece};\n{chr(10).join(lines)}\n".encode()


def keep(folder: Path, megabytes: int) -> dict[str, float]:
    """Keep both versions as the pipeline does: the body is a file, its digest is known."""
    from rehi.archive import Archive
    from rehi.engines.folder import FolderShelf
    from rehi.model.version import Digest, RecordRef
    from rehi.model.visit import Answer, Visit
    from rehi.process import hold_memory

    hold_memory()
    shelf = FolderShelf(folder / "archive")
    archive = Archive(shelf, file_bytes=10**9, worker="bench", software="rehi", clock=lambda: _BEGIN)
    refs: list[RecordRef] = []
    cpu = 0.0
    for number in (0, 1):
        path = folder / f"version-{number}.csv"
        with path.open("rb") as body:
            answer = Answer(
                status=200, reason="OK", http_version="1.1", request_headers=(("Accept", "*/*"),),
                headers=(("Content-Type", "text/csv"),), address="192.0.2.7", body=body, size=path.stat().st_size,
                digest=Digest(f"sha256:{_digest(path)}"),
            )  # fmt: skip
            url = "https://avaandmed.example.ee/files/large.csv"
            visit = Visit(url=url, started_at=_BEGIN + timedelta(days=number), seconds=9.0, answer=answer)
            began = process_time()
            refs.append(archive.keep_change(visit, base=refs[-1]) if refs else archive.keep(visit))
            archive.sync()
            cpu += process_time() - began
    shelf.close()
    places = [[ref.file, ref.offset, ref.length] for ref in refs]
    (folder / "refs.json").write_text(json.dumps(places), encoding="utf-8")
    stored = sum(path.stat().st_size for path in (folder / "archive").iterdir() if path.is_file())
    return {"keep_cpu": cpu, "keep_mb": _peak_mb(), "stored_mb": stored / 1e6}


def read(folder: Path, megabytes: int) -> dict[str, float]:
    """Have both back, and compare their digests."""
    from rehi.archive import Archive
    from rehi.engines.folder import FolderShelf
    from rehi.model.version import RecordRef

    archive = Archive(FolderShelf(folder / "archive"), file_bytes=1, worker="r", software="", clock=lambda: _BEGIN)
    began = process_time()
    digests = []
    for file, offset, length in json.loads((folder / "refs.json").read_text(encoding="utf-8")):
        with archive.open_body(RecordRef(file, offset, length)) as body:
            digests.append(_digest_stream(body))
    cpu = process_time() - began
    for number, digest in enumerate(digests):
        if digest != _digest(folder / f"version-{number}.csv"):
            sys.exit(f"version {number} of the large file did not come back as it was")
    return {"read_cpu": cpu, "read_mb": _peak_mb()}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return _digest_stream(file)


def _digest_stream(stream: BinaryIO) -> str:
    digest = sha256()
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _peak_mb() -> float:
    """The most memory that this process has had; getrusage would count what its parent had, too."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # in bytes where there is no /proc


STEPS: dict[str, Callable[[Path, int], dict[str, float]]] = {"make": make, "keep": keep, "read": read}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(STEPS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))))
