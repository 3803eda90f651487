"""Names of files that are made of URLs."""

from __future__ import annotations

import re

import pytest

from rehi.operations.file_names import name_in_folders, name_of_file

HOSTILE = [
    "http://a.test/../../etc/passwd",
    "http://a.test/..%2f..%2fetc%2fpasswd",
    "http://a.test/con/aux.txt",
    "http://a.test/CON.html",
    "http://a.test/a\\b\\..\\c.exe",
    "http://a.test/%00%0a%1b[31m.txt",
    "http://a.test/.htaccess",
    "http://../x.html",
    "http://nul.test/x.html",
    "http://[::1]:80/x.html",
    "http://user:pass@a.test:8080/x.html",
    "file:///etc/passwd",
    "http://[",
    "javascript:alert(1)",
    "http://a.test/" + "x" * 5_000 + ".html",
    "http://a.test/" + "sügav/" * 200,
    "http://a.test/trailing./dot .txt",
    "http://a.test/a:b|c*d?e<f>g",
    "",
]


@pytest.mark.parametrize("url", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_is_safe_on_every_system(url: str) -> None:
    for name in (name_in_folders(url, "text/html"), name_in_folders(url, "", "20260301120000"), name_of_file(url, "")):
        assert len(name) <= 200
        assert re.fullmatch(r"[a-z0-9._@~/-]+", name)
        for segment in name.split("/"):
            assert segment.strip(". ") == segment != ""
            assert segment.partition(".")[0] not in {"con", "aux", "nul"}


def test_a_plain_path_stays_as_it_is() -> None:
    url = "https://www.example.ee/teated/2026-03.html"
    assert name_in_folders(url, "text/html") == "https/www.example.ee/teated/2026-03.html"
    assert name_in_folders(url, "", "20260301") == "https/www.example.ee/teated/2026-03@20260301.html"
    assert name_of_file(url, "", "20260301") == "2026-03-20260301.html"
    assert name_of_file("http://a.test/", "text/CSV; charset=x") == "index.csv"


def test_no_two_urls_have_one_name_in_any_case_and_none_is_in_the_place_of_another() -> None:
    urls = [
        f"{scheme}://{host}/{path}"
        for scheme in ("http", "https")
        for host in ("a.test", "a.test:8080", "A.test")
        for path in (
            "", "a", "A", "a/", "a/b", "a/b.html", "a/B.html", "a.html", "a.html/b.html", "a.html?", "a.html?x", "a%2Fb.html",
            "a_b.html", "a b.html", "index", "index.html", "aux/x.html", "_aux/x.html", "a/b.html@20260301.html",
        )
    ]  # fmt: skip
    names = [name_in_folders(url, "text/html").lower() for url in urls]
    assert len(set(names)) == len(urls)
    folders = {"/".join(name.split("/")[:depth]) for name in names for depth in range(1, name.count("/") + 1)}
    assert folders.isdisjoint(names)
