"""Tests of media types and extensions that hold no text."""

from __future__ import annotations

import pytest

from rehi.sources.media import extension_of, promise_of_type, promise_of_url


@pytest.mark.parametrize(
    "declared",
    [
        "text/html",
        "application/xhtml+xml",
        "application/pdf",
        "application/json",
        "application/ld+json",
        "application/geo+json",
        "application/vnd.api+json",
        "application/xml",
        "text/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "text/csv",
        "text/turtle",
        "application/rtf",
        "application/epub+zip",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.oasis.opendocument.text",
        "message/rfc822",
        "text/markdown",
        "TEXT/HTML",
        "text/html;charset=utf-8",
    ],
)
def test_a_type_that_holds_text_is_known_by_name(declared: str) -> None:
    assert promise_of_type(declared) == "text"


@pytest.mark.parametrize(
    "declared",
    [
        "image/png",
        "image/svg+xml",
        "audio/mpeg",
        "video/mp4",
        "font/woff2",
        "text/css",
        "text/javascript",
        "application/javascript",
        "application/x-javascript",
        "application/zip",
        "application/gzip",
        "application/x-shockwave-flash",
        "application/font-woff",
        "IMAGE/PNG",
        "application/javascript;charset=utf-8",
        "application/vnd.ms-fontobject",
        "model/gltf+json",
    ],
)
def test_a_type_that_holds_no_text_is_known_by_name(declared: str) -> None:
    assert promise_of_type(declared) == "silent"


@pytest.mark.parametrize(
    "declared", ["-", "unknown", "no-type", "", "application/octet-stream", "text/plain", "x", "application/x-new", "/"]
)
def test_a_type_that_says_little_leaves_it_to_the_extension(declared: str) -> None:
    assert promise_of_type(declared) == "unknown"


@pytest.mark.parametrize(
    "declared",
    ["application/json", "application/x-jsmin-notes", "text/x-css-tutorial", "application/videogame-list+xml"],
)
def test_no_type_is_turned_away_for_what_it_contains(declared: str) -> None:
    assert promise_of_type(declared) != "silent"


@pytest.mark.parametrize(
    ("url", "extension"),
    [
        ("http://www.example.ee/a/b.PDF", "pdf"),
        ("http://www.example.ee/a/b.html?x=y.png", "html"),
        ("http://www.example.ee/a/b.jsp;jsessionid=1.2", "jsp"),
        ("http://www.example.ee/a.d/b", ""),
        ("http://www.example.ee/", ""),
        ("http://www.example.ee/.htaccess", ""),
        ("http://www.example.ee/b.", ""),
        ("http://www.example.zip/", ""),
        ("http://www.example.ee/2014.02.28-hommikul", ""),
        ("http://www.example.ee/a.tar.gz", "gz"),
    ],
)
def test_the_extension_is_that_of_the_path(url: str, extension: str) -> None:
    assert extension_of(url) == extension


def test_an_extension_promises_text_or_none_or_says_nothing() -> None:
    assert promise_of_url("http://www.example.ee/data.json") == "text"
    assert promise_of_url("http://www.example.ee/app.js") == "silent"
    assert promise_of_url("http://www.example.ee/photo.JPG?size=2") == "silent"
    assert promise_of_url("http://www.example.ee/news") == "unknown"
    assert promise_of_url("http://www.example.ee/news.ee") == "unknown"
