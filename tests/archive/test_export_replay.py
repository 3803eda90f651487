"""pywb replays every version of an export, from the folder of WARC files and from the WACZ, and agrees with its index."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rehi.archive.cdxj import REVISIT
from rehi.archive.export import FolderWarcs
from rehi.model.capture import CaptureFilter
from rehi.model.visit import Outcome
from rehi.operations.export import ExportKind, export
from rehi.testing.waiting import PATIENCE
from tests.archive.library import Library, open_library
from tests.archive.pywb import fetch, find_pywb, run_pywb, serving
from tests.archive.test_export import COPY, DATA, NOISE, OLD, PAGE, TEXTS

CSV = [("nimi;hind\n" + "".join(f"asi {n};{n * step}\n" for n in range(2_000))).encode() for step in range(1, 6)]


def fill(library: Library) -> None:
    for text in (*TEXTS, TEXTS[3], TEXTS[1]):
        library.keep(PAGE, text)
    library.keep(PAGE, b"", status=304, media_type="")
    for body in CSV:
        library.keep("https://andmed.rehemaa.test:8443/hinnad.csv", body, media_type="text/csv")
    library.keep(COPY, TEXTS[2])
    library.keep(OLD, b"", status=302, to=PAGE)
    library.keep(DATA, NOISE, media_type="application/octet-stream")
    library.keep("http://www.rehemaa.test/T%C3%B5de/?Q=%C3%95nn&a[]=1|2", b"{}", media_type="application/json")


@contextmanager
def replaying(home: Path, folder: Path, package: Path) -> Iterator[str]:
    """A pywb server over both exports."""
    home.mkdir()
    (home / "config.yaml").write_text(
        f"collections:\n  warc:\n    index_paths: {folder}/{FolderWarcs.INDEX}\n    archive_paths: {folder}/\n"
    )
    run_pywb("wb-manager", "init", "wacz", home=home)
    run_pywb("wb-manager", "add", "wacz", str(package), "--unpack-wacz", home=home)
    with serving(home) as at:
        yield at


def test_pywb_replays_every_version_of_an_export(tmp_path: Path) -> None:
    find_pywb("wayback")
    folder, package = tmp_path / "out", tmp_path / "out.wacz"
    with open_library(tmp_path / "data") as library:
        fill(library)
        archive = library.house.archive
        kinds = [archive.read_headers(capture.record).fields.kind for capture in library.captures()]
        assert kinds.count("delta") >= 5  # else this test says little
        export(library.house, ExportKind.WARC, folder, CaptureFilter(), file_bytes=2_000)
        export(library.house, ExportKind.WACZ, package, CaptureFilter(), file_bytes=2_000)
        captures = library.captures()
        bodies = {
            capture.digest: archive.open_body(capture.body).read() for capture in captures if capture.body is not None
        }
    with replaying(tmp_path / "pywb", folder, package) as at:
        for collection in ("warc", "wacz"):
            for capture in captures:
                status, replayed, _ = fetch(f"{at}/{collection}/{capture.at:%Y%m%d%H%M%S}id_/{capture.url}")
                if capture.status != 200:  # pywb shows a redirect and a server's 304 as they were
                    assert (capture.url, status, replayed) == (capture.url, capture.status, b"")
                else:
                    assert (capture.url, capture.at, status, replayed == bodies[capture.digest]) == (
                        capture.url,
                        capture.at,
                        200,
                        True,
                    )
    assert len([capture for capture in captures if capture.outcome is Outcome.NEW]) == 13
    _compare_with_own_index(folder, tmp_path / "theirs.cdxj")


def _compare_with_own_index(folder: Path, target: Path) -> None:
    """What pywb makes of the files is the index that lies beside them."""
    indexer = [find_pywb("cdx-indexer"), "--sort", "--cdxj", "--output", str(target), str(folder)]
    subprocess.run(indexer, timeout=PATIENCE, check=True, capture_output=True)
    ours, theirs = (
        [(*line.split(" ", 2)[:2], json.loads(line.split(" ", 2)[2])) for line in path.read_text().splitlines()]
        for path in (folder / FolderWarcs.INDEX, target)
    )
    for _, _, values in ours:
        if values["mime"] == REVISIT:
            del values["status"]  # which pywb leaves out
    assert ours == theirs
