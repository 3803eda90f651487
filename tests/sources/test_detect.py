"""Tests of the kind of a source."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from rehi.errors import SourceError
from rehi.model.source import Found, SourceKind
from rehi.sources import detect, open_lines, read_source

LOG = b"20080331115022123   200      12642 http://www.example.ee/ - - text/html #012 - - -\n"
PROSE = b"Kord elas rehes peremees.\nTal oli seitse poega,\nkes http://www.example.ee/ lugesid.\n" * 30


@pytest.mark.parametrize(
    ("contents", "kind"),
    [
        (LOG, SourceKind.CRAWL_LOG),
        (gzip.compress(LOG, mtime=0), SourceKind.CRAWL_LOG),
        (b"\n\n# a comment\n" + LOG, SourceKind.CRAWL_LOG),
        (b"a torn line\n" + LOG, SourceKind.CRAWL_LOG),
        (b"http://www.example.ee/\n", SourceKind.URL_LIST),
        (gzip.compress(b"http://www.example.ee/", mtime=0), SourceKind.URL_LIST),
        (b"\xef\xbb\xbfurl,title\nhttp://www.example.ee/, uudis\n", SourceKind.URL_LIST),
        (b"www.example.ee\nexample.ee\n", SourceKind.URL_LIST),
        ("http://www.example.ee/k\xf5ik\n".encode("latin-1"), SourceKind.URL_LIST),
    ],
)
def test_the_first_lines_tell_the_kind(tmp_path: Path, contents: bytes, kind: SourceKind) -> None:
    file = tmp_path / "source"
    file.write_bytes(contents)
    assert detect(file) is kind


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (b"", "is empty"),
        (b"\n \n# nothing\n", "nothing in it but blank lines"),
        (gzip.compress(b"", mtime=0), "nothing in it but blank lines"),
        (os.urandom(5000), "is a binary file"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0", "is a binary file"),
        (gzip.compress(b"%PDF-1.4\n\0\0\0", mtime=0), "is a binary file"),
        ("http://www.example.ee/\n".encode("utf-16"), "UTF-16"),
        (b"hello\nthere\n", "none of its first 2 lines is a crawl-log line or a URL"),
        (b"<html>\n<body>\n<p>Tere!</p>\n" * 100, "none of its first 100 lines"),
        (b"# Rehi\nSee http://www.example.ee/ for more.\n" + PROSE, "is not a crawl log or a list"),
        (b"http://www.example.ee/\n" + PROSE, "only 1 of its first 91 lines are URLs"),
        (gzip.compress(os.urandom(50_000).hex().encode())[:-30], "ends in the middle"),
    ],
)
def test_what_is_neither_gets_one_sentence(tmp_path: Path, contents: bytes, sentence: str) -> None:
    file = tmp_path / "source"
    file.write_bytes(contents)
    with pytest.raises(SourceError, match=sentence) as raised:
        detect(file)
    assert "\n" not in str(raised.value)


def test_a_missing_file_and_a_folder_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no file"):
        detect(tmp_path / "nothing.log")
    with pytest.raises(SourceError, match="is a folder"):
        detect(tmp_path)


def test_a_source_is_read_by_the_reader_of_its_kind(tmp_path: Path) -> None:
    page = Found("http://www.example.ee/")
    for contents in (LOG * 3, b"www.example.ee\n" * 3):
        file = tmp_path / "source"
        file.write_bytes(contents)
        with open_lines(file) as lines:
            assert list(read_source(detect(file), lines, start=1)) == [page, page]
    assert list(read_source(SourceKind.PAGE, [b"http://www.example.ee/#top"])) == [page]
