"""Web pages where files were promised."""

from __future__ import annotations

import pytest

from rehi.fetch.soft_404 import expects_file, is_wrong_type
from tests.fetch.conftest import made_up

HTML = (
    b"\xef\xbb\xbf \n<!-- a --><!-- b -->\n<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><html><p>Log in</p></html>"
)


@pytest.mark.parametrize(
    ("url", "before", "promised"),
    [
        ("https://x.test/andmed/rahvaarv.CSV", "", True),
        ("https://x.test/a.csv?download=1#x", "", True),
        ("https://x.test/a.tar.gz", "", True),
        ("https://x.test/a.geojson", "", True),
        ("https://x.test/a.pdf", "", True),
        ("https://x.test/", "", False),
        ("https://x.test/csv", "", False),
        ("https://x.test/a.html", "", False),
        ("https://x.test/a.csv/", "", False),
        ("https://x.csv", "", False),
        ("https://x.test/page?file=a.csv", "", False),
        ("https://x.test/wiki/Fail:Kaart.pdf", "", False),
        ("https://x.test/owner/repo/blob/main/a.csv", "", False),
        ("https://x.test/download/77", "text/csv; charset=utf-8", True),
        ("https://x.test/download/77", "application/vnd.ms-excel", True),
        ("https://x.test/download/77", "text/html", False),
        ("https://x.test/a.pdf", "Text/HTML; charset=utf-8", False),
    ],
)
def test_a_url_promises_a_file_by_its_name_or_its_past(url: str, before: str, promised: bool) -> None:
    assert expects_file(url, before) == promised


@pytest.mark.parametrize(
    ("body", "media_type", "wrong"),
    [
        (HTML, "text/html", True),
        (HTML, "text/csv", True),
        (HTML, "", True),
        (b"<html lang=et>", "application/octet-stream", True),
        (b"<?xml version='1.0'?>\n<!DOCTYPE html><html>", "text/html", True),
        (b"<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>", "application/xml", False),
        (b"name;value\nTartu;5\n", "text/html", False),
        (b"%PDF-1.7", "text/html", False),
        (b"<htmlish>", "text/html", False),
        (b"", "text/html", False),
    ],
)
def test_only_what_is_a_page_is_the_wrong_type(body: bytes, media_type: str, wrong: bool) -> None:
    answer = made_up(body, media_type=media_type)
    assert is_wrong_type(answer, url="https://x.test/a.csv", media_type_before="") == wrong
    assert answer.body.tell() == 0


def test_an_error_is_an_error_and_not_a_wrong_type() -> None:
    assert not is_wrong_type(
        made_up(HTML, media_type="text/html", status=404), url="https://x.test/a.csv", media_type_before=""
    )


def test_a_url_that_has_always_led_to_a_page_breaks_no_promise() -> None:
    answer = made_up(HTML, media_type="text/html")
    assert not is_wrong_type(answer, url="https://x.test/viewer.pdf", media_type_before="text/html")
    assert is_wrong_type(answer, url="https://x.test/x", media_type_before="application/json")
