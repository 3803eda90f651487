"""pywb replays the folder as it is: a page, a revisit and a duplicate, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rehi.archive import Archive
from rehi.model.visit import Visit
from tests.archive.pywb import fetch, find_pywb, run_pywb, serving

PAGE = "<!doctype html><title>Küla</title><p>Tere, õnn! ".encode() * 500 + bytes(range(256))
OTHER = b"an older body, larger than the newer one, " * 50


@contextmanager
def replaying(folder: Path, home: Path) -> Iterator[str]:
    """A pywb server over the folder, and the address of its replay."""
    home.mkdir()
    run_pywb("cdx-indexer", "--sort", "--cdxj", "--output", "index.cdxj", str(folder), home=home)
    (home / "config.yaml").write_text(
        f"collections:\n  rehi:\n    index_paths: {home}/index.cdxj\n    archive_paths: {folder}/\n"
    )
    with serving(home) as at:
        yield f"{at}/rehi"


def test_pywb_replays_pages_revisits_and_duplicates(
    archive: Archive, make_visit: Callable[..., Visit], folder: Path, tmp_path: Path
) -> None:
    find_pywb("wayback")
    html = (("Content-Type", "text/html"), ("Content-Encoding", "br"), ("Transfer-Encoding", "chunked"))
    page = archive.keep(make_visit("http://www.rehemaa.test/", PAGE, headers=html))  # 12:00:01
    other = archive.keep(make_visit("http://www.rehemaa.test/muu?b=2&a=1", OTHER))  # 12:00:02
    archive.keep_duplicate(make_visit("http://www.rehemaa.test/", PAGE, headers=html), body=page)  # 12:00:03
    archive.keep_duplicate(make_visit("http://koopia.rehemaa.test/x.bin", OTHER, headers=()), body=other)  # 12:00:04
    archive.keep(make_visit("http://www.rehemaa.test/vana", b"", status=301, headers=(("Location", "/"),)))  # 12:00:05
    unmodified = make_visit("http://www.rehemaa.test/", b"", status=304, headers=())  # 12:00:06
    archive.keep_duplicate(unmodified, body=page)
    last = page
    for number in range(3):  # deltas lie among the records, which pywb passes over
        last = archive.keep_change(make_visit("http://www.rehemaa.test/", PAGE + bytes([number])), base=last)
        assert archive.fields_of(last).kind == "delta"
    after = archive.keep(make_visit("http://www.rehemaa.test/", OTHER[::-1]))  # 12:00:10
    assert after.file == page.file
    archive.sync()
    with replaying(folder, tmp_path / "pywb") as at:
        expected = {
            "20240309120001id_/http://www.rehemaa.test/": PAGE,
            "20240309120003id_/http://www.rehemaa.test/": PAGE,
            "20240309120010id_/http://www.rehemaa.test/": OTHER[::-1],
            "20240309120002id_/http://www.rehemaa.test/muu?b=2&a=1": OTHER,
            "20240309120004id_/http://koopia.rehemaa.test/x.bin": OTHER,
        }
        for address, body in expected.items():
            status, replayed, headers = fetch(f"{at}/{address}")
            assert (address, status, replayed == body) == (address, 200, True)
            assert "Content-Encoding" not in headers
        for second, status in ((5, 301), (6, 304)):  # pywb shows a server's 304 as it was, for every crawler's archive
            url = "http://www.rehemaa.test/vana" if status == 301 else "http://www.rehemaa.test/"
            assert fetch(f"{at}/2024030912000{second}id_/{url}")[:2] == (status, b"")
