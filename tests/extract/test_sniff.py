"""The true media type is found whatever the server says."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

from rehi.extract.sniff import sniff

PAGE = b"<!DOCTYPE html><html><head><title>Tere</title></head><body><p>Tere</p></body></html>"
TABLE = "nimi;linn\nJaan Tamm;Tartu\nMari Põld;Võru\n".encode()
RSS = b'<?xml version="1.0"?>\n<!-- voog -->\n<rss version="2.0"><channel/></rss>'
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>'


def zipped(*names: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return held.getvalue()


@pytest.mark.parametrize("declared", ["", "text/plain", "application/json", "image/png", "text/csv", "text/xml"])
@pytest.mark.parametrize(
    "body",
    [PAGE, b"\xef\xbb\xbf\n  <html>", b"<!-- a --><head>", b"<p>Tere</p>", b"Warning: x on line 3\n" + PAGE,
     b"<HTML><BODY>", "<html><p>õ".encode("utf-16")],
)  # fmt: skip
def test_html_is_html_under_any_name(body: bytes, declared: str) -> None:
    if declared == "text/xml" and body.startswith(b"<p>"):
        pytest.skip("an XML document may well begin so")
    assert sniff(body, declared=declared, url="http://a.test/x.csv") == "text/html"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"%PDF-1.4\n", "application/pdf"),
        (b"\n\njunk%PDF-1.4\n", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a...", "image/gif"),
        (gzip.compress(b"x", mtime=0), "application/gzip"),
        (zipped("a.txt"), "application/zip"),
        (zipped("[Content_Types].xml", "word/document.xml"),
         "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
        (bytes(range(256)) * 4, "application/octet-stream"),
        (b"{\\rtf1 Tere}", "application/rtf"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'></svg>", "image/svg+xml"),
    ],
)  # fmt: skip
def test_no_label_makes_a_text_of_what_is_none(body: bytes, found: str) -> None:
    assert sniff(body, declared="text/html; charset=utf-8", url="http://a.test/leht.html") == found


@pytest.mark.parametrize(
    ("body", "declared", "url", "found"),
    [
        (RSS, "text/html", "/", "application/rss+xml"),
        (ATOM, "text/plain", "/", "application/atom+xml"),
        (b"<?xml version='1.0'?><seadus><p>x</p></seadus>", "text/html", "/", "application/xml"),
        (b"<seadus><p>x</p></seadus>", "text/plain", "/", "application/xml"),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>", "", "/", "application/xhtml+xml"),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>", "text/html", "/", "text/html"),
        (b"<rdf:RDF xmlns:rdf='x'></rdf:RDF>", "text/xml", "/", "application/rdf+xml"),
        (b"<OAI-PMH><x/></OAI-PMH>", "application/oai+xml", "/", "application/oai+xml"),
        (b'{"nimi": "Jaan"}', "text/html", "/", "application/json"),
        (b'[{"nimi": "Jaan"}]', "text/plain", "/", "application/json"),
        (b'{"@id": "x"}', "application/ld+json", "/", "application/ld+json"),
        (b'{"a": 1}\n{"a": 2}\n', "", "/x.jsonl", "application/x-ndjson"),
        (b"[1] Vaata ka", "text/plain", "/", "text/plain"),
        (b"[Tartu] Jaan", "application/json", "/", "text/plain"),
        (b"null", "application/json", "/", "application/json"),
        (TABLE, "text/csv", "/", "text/csv"),
        (TABLE, "text/plain", "/andmed.csv", "text/csv"),
        (TABLE, "application/octet-stream", "/andmed.csv?x=1", "text/csv"),
        (TABLE, "application/vnd.ms-excel", "/", "text/csv"),
        (TABLE, "text/plain", "/", "text/plain"),
        (TABLE.replace(b";", b"\t"), "text/csv", "/", "text/tab-separated-values"),
        (b"nimi\nJaan\n", "text/csv", "/", "text/csv"),
        (b"Tere, maailm", "text/html", "/", "text/plain"),
        (b"Tere, <b>maailm</b>", "text/html", "/", "text/html"),
        (b"Tere, <b>maailm</b>", "text/plain", "/", "text/plain"),
        (b"# Tere", "text/markdown", "/", "text/markdown"),
        (b"body { color: red }", "text/css", "/", "text/css"),
        (b"var x = 1;", "text/plain", "/a.js", "text/javascript"),
        (b"BMW on auto", "", "/", "text/plain"),
        (b"Tere", "image/png", "/", "text/plain"),
        (b"", "text/html", "/", "text/plain"),
        ("Jõgi õitses öösel".encode("cp1257"), "", "/", "text/plain"),
    ],
)  # fmt: skip
def test_each_gets_its_true_name(body: bytes, declared: str, url: str, found: str) -> None:
    assert sniff(body, declared=declared, url="http://a.test" + url) == found


def test_an_address_that_is_none_does_no_harm() -> None:
    assert sniff(b"Tere", declared="", url="http://[") == "text/plain"
