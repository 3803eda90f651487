"""Tests of the kind of a source."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from rehi.builtin import load_all
from rehi.errors import SourceError
from rehi.sources import open_lines, recognise, recognise_file, sample_file
from rehi.zstd import zstd_module

LOG = b"20080331115022123   200      12642 http://www.example.ee/ - - text/html #012 - - -\n"
LINKS = b"<loc>http://www.example.ee/</loc>\nhttp://www.example.ee/\n" * 20
SITEMAP = b"""<?xml version="1.0"?>
<!-- made by http://www.example.ee/maker -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://www.example.ee/1</loc></url>
</urlset>
"""
FEED = b"""<?xml version="1.0" encoding="utf-8"?><?xml-stylesheet href="a.xsl"?>
<!--
http://www.example.ee/1
http://www.example.ee/2
-->
<rss version="2.0"><channel></channel></rss>
"""
ARC = b"filedesc://IAH-0.arc 0.0.0.0 20080331115022 text/plain 77\n"
ARC_VERSION = b"1 1 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
PROSE = b"Kord elas rehes peremees.\nTal oli seitse poega,\nkes http://www.example.ee/ lugesid.\n" * 30


@pytest.mark.parametrize(
    ("contents", "kind"),
    [
        (LOG, "crawl-log"),
        (gzip.compress(LOG, mtime=0), "crawl-log"),
        (zstd_module().compress(LOG), "crawl-log"),
        (gzip.compress(b"", mtime=0) + gzip.compress(LOG, mtime=0), "crawl-log"),
        (gzip.compress(b"# packed\n", mtime=0) + gzip.compress(b"http://www.example.ee/\n", mtime=0), "url-list"),
        (b"# a long preamble\n" * 50_000 + b"http://www.example.ee/\n", "url-list"),
        (b"\n\n# a comment\n" + LOG, "crawl-log"),
        (b"a torn line\n" + LOG, "crawl-log"),
        (b"http://www.example.ee/\n", "url-list"),
        (gzip.compress(b"http://www.example.ee/", mtime=0), "url-list"),
        (b"\xef\xbb\xbfurl,title\nhttp://www.example.ee/, uudis\n", "url-list"),
        (b"www.example.ee\nexample.ee\n", "url-list"),
        ("http://www.example.ee/k\xf5ik\n".encode("latin-1"), "url-list"),
    ],
)
def test_the_first_lines_tell_the_kind(tmp_path: Path, contents: bytes, kind: str) -> None:
    file = tmp_path / "source"
    file.write_bytes(contents)
    assert recognise_file(file, load_all("source")) == kind


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
        (b"hello\nthere\n", "of its first 2 lines none is a crawl-log line, and few or none are URLs"),
        (
            b"<html>\n<body>\n<p>Tere!</p>\n" * 100,
            "is an HTML page, not a crawl log or a list of URLs: add the address",
        ),
        (SITEMAP, "is a sitemap, not a crawl log"),
        (gzip.compress(SITEMAP, mtime=0), "is a sitemap, not a crawl log"),
        (FEED, "is an RSS feed, not a crawl log"),
        (b'<feed xmlns="http://www.w3.org/2005/Atom">\n' + LINKS + b"</feed>", "is an Atom feed"),
        (b"<!DOCTYPE html><title>x</title>" + LINKS, "is an HTML page"),
        (b"<opml version='1.0'>" + LINKS, "is a list of feeds"),
        (b'<?xml version="1.0"?>\n<register>\n' + LINKS, "is an XML document"),
        (b'[\n"http://a.ee/",\n"http://b.ee/"]', "is a JSON document"),
        (b'{"url": "http://a.ee/"}\n' * 9, "is a JSON document"),
        (b"# Rehi\nSee http://www.example.ee/ for more.\n" + PROSE, "is not a crawl log or a list"),
        (b"http://www.example.ee/\n" + PROSE, "of its first 91 lines none is a crawl-log line, and few"),
        (gzip.compress(os.urandom(50_000).hex().encode())[:-30], "ends in the middle"),
    ],
)
def test_what_is_neither_gets_one_sentence(tmp_path: Path, contents: bytes, sentence: str) -> None:
    file = tmp_path / "source"
    file.write_bytes(contents)
    with pytest.raises(SourceError, match=sentence) as raised:
        recognise_file(file, load_all("source"))
    assert "\n" not in str(raised.value)


def test_a_missing_file_and_a_folder_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no file"):
        recognise_file(tmp_path / "nothing.log", load_all("source"))
    with pytest.raises(SourceError, match="is a folder"):
        recognise_file(tmp_path, load_all("source"))


@pytest.mark.parametrize(
    ("contents", "kind"),
    [
        (ARC + LOG * 20, "crawl-log"),
        (ARC + ARC_VERSION + LOG * 200, "crawl-log"),
        (gzip.compress(ARC + LOG * 20, mtime=0), "crawl-log"),
        (ARC + ARC_VERSION + b"\nhttp://a.ee/ 192.0.2.1 20080331115022 text/html 40\nHTTP/1.1 200 OK\r\n\r\n", "warc"),
        (ARC + ARC_VERSION + b"\nhttp://a.ee/ 192.0.2.1 20080331115022 text/plain 400\n" + PROSE + LOG * 3, "warc"),
        (b"filedesc://IAH-0.arc 0.0.0.0 2008\nhttp://a.ee/ 192.0.2.1 20080331115022 text/html 40\n", "warc"),
    ],
)
def test_a_log_that_begins_with_the_header_of_an_arc_file_is_a_log(tmp_path: Path, contents: bytes, kind: str) -> None:
    file = tmp_path / "source"
    file.write_bytes(contents)
    assert recognise_file(file, load_all("source")) == kind


LIST = b"http://www.example.ee/\n<http://b.ee/>\n"


@pytest.mark.parametrize(
    ("media_type", "contents", "kind"),
    [
        ("text/uri-list", LIST, "url-list"),
        ("Text/URI-List; charset=utf-8", gzip.compress(LIST, mtime=0), "url-list"),
        ("text/uri-list", b"<http://b.ee/>\n<https://c.ee/>\n", "url-list"),
        ("text/uri-list", b'<html><a href="http://a.ee/">a</a>', "page"),
        ("text/plain", LIST, "page"),
        ("text/csv", LIST, "page"),
        ("application/gzip", gzip.compress(LIST, mtime=0), "page"),
        ("text/html", LIST, "page"),
        ("", LIST, "page"),
        ("text/plain", LOG, "page"),
        ("text/xml", SITEMAP, "page"),
        ("text/xml", FEED, "page"),
        ("text/html", b'<html><a href="http://a.ee/">a</a>', "page"),
        ("text/plain", b"", "page"),
        ("text/plain", PROSE, "page"),
        ("application/pdf", b"%PDF-1.4\n\0\0\0", "page"),
    ],
)
def test_what_lies_at_a_url_is_a_page_unless_its_type_says_that_it_is_a_list(
    tmp_path: Path, media_type: str, contents: bytes, kind: str
) -> None:
    file = tmp_path / "source"
    file.write_bytes(contents)
    sample = sample_file(file, name="http://a.ee/x", media_type=media_type, is_local=False)
    recognised = recognise(sample, load_all("source"))
    assert recognised is not None
    assert recognised[0] == kind


TEXT = b"".join(b"http://www.example.ee/%d\n" % number for number in range(90))


@pytest.mark.parametrize(
    "packed",
    [
        TEXT,
        gzip.compress(TEXT, mtime=0),
        gzip.compress(b"", mtime=0) + gzip.compress(TEXT[:50], mtime=0) + gzip.compress(TEXT[50:], mtime=0),
        zstd_module().compress(TEXT),
        zstd_module().compress(TEXT[:50]) + zstd_module().compress(TEXT[50:]),
        b"\x50\x2a\x4d\x18\x01\0\0\0x" + zstd_module().compress(TEXT),
    ],
    ids=["plain", "gzip", "members", "zstd", "frames", "skippable"],
)
def test_what_the_sample_shows_is_what_is_read(tmp_path: Path, packed: bytes) -> None:
    file = tmp_path / "source"
    file.write_bytes(packed)
    sample = sample_file(file, name=file.name)
    assert sample.start == TEXT
    with open_lines(file) as lines:
        assert tuple(lines) == sample.lines
