"""What is kept comes back byte for byte, in parts if need be, and can do nothing in a browser."""

from __future__ import annotations

import socket
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from rehi.serve.replay import archived_headers
from rehi.testing.waiting import PATIENCE
from tests.keeper import Keeper, at
from tests.serve.conftest import Ask
from tests.serve.kept_web import (
    COOKIES,
    EMPTY,
    EVIL,
    EVIL_BODY,
    LARGE,
    LARGE_BODY,
    MIDDLE,
    OLD,
    PAGE,
    PICTURE,
    SCRIPT,
    SVG,
    KeptWeb,
)

STAMP = "20260301120000"
BIG = f"/web/{STAMP}id_/{LARGE}"
SIZE = len(LARGE_BODY)


def test_bytes_and_type_are_those_that_came(ask_kept: Ask) -> None:
    for url, body, kind in (
        (LARGE, LARGE_BODY, "application/x-tundmatu"),
        (PICTURE, SVG, "image/svg+xml"),
        (EMPTY, b"", "application/octet-stream"),
        ("http://koopia.test/x.html", OLD, "text/html; charset=utf-8"),
    ):
        stamp = "20260304120000" if "koopia" in url else STAMP
        answer = ask_kept(f"/web/{stamp}id_/{url}", Accept_Encoding="gzip, br")
        assert (answer.status, answer.body == body, answer.headers["content-type"]) == (200, True, kind)
        assert answer.headers["content-length"] == str(len(body))
        assert "content-encoding" not in answer.headers


def test_a_body_that_would_be_compressed_elsewhere_is_sent_as_it_is(ask_kept: Ask) -> None:
    answer = ask_kept(f"/web/20260311120000/{PAGE}", Accept_Encoding="gzip")
    assert (answer.body, "content-encoding" in answer.headers) == (MIDDLE, False)
    assert ask_kept(f"/web/*/{PAGE}", Accept_Encoding="gzip").headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("asked", "first", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, SIZE),
        ("bytes=1000000-1000099", 1_000_000, 1_000_100),
        ("bytes=2999990-9999999999999999999999", 2_999_990, SIZE),
        ("bytes=-5", SIZE - 5, SIZE),
        ("bytes=-99999999999", 0, SIZE),
        ("Bytes= 5 - 9", 5, 10),
    ],
)
def test_a_range_is_sent_alone(ask_kept: Ask, asked: str, first: int, end: int) -> None:
    answer = ask_kept(BIG, Range=asked, Accept_Encoding="gzip")
    assert answer.status == 206
    assert answer.headers["content-range"] == f"bytes {first}-{end - 1}/{SIZE}"
    assert answer.headers["content-length"] == str(end - first)
    assert answer.body == LARGE_BODY[first:end]


@pytest.mark.parametrize(
    "asked", ["bytes=0-1,5-6", "lines=0-1", "bytes=5-4", "bytes=-", "bytes", "bytes=a-b", "bytes=²-"]
)
def test_a_range_that_is_none_or_many_gets_everything(ask_kept: Ask, asked: str) -> None:
    answer = ask_kept(BIG, Range=asked)
    assert (answer.status, answer.body == LARGE_BODY) == (200, True)
    assert "content-range" not in answer.headers


@pytest.mark.parametrize(("url", "asked"), [(LARGE, f"bytes={SIZE}-"), (LARGE, "bytes=-0"), (EMPTY, "bytes=0-")])
def test_a_range_beyond_the_end_is_refused_with_the_size(ask_kept: Ask, url: str, asked: str) -> None:
    answer = ask_kept(f"/web/{STAMP}id_/{url}", Range=asked)
    size = SIZE if url == LARGE else 0
    assert (answer.status, answer.headers["content-range"]) == (416, f"bytes */{size}")


def test_a_tag_saves_the_way_and_guards_a_range(ask_kept: Ask) -> None:
    tag = ask_kept(BIG, method="HEAD").headers["etag"]
    for given in (tag, f'"other", W/{tag}', "*"):
        same = ask_kept(BIG, If_None_Match=given)
        assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag)
        assert "memento-datetime" in same.headers
    assert ask_kept(BIG, If_None_Match='"other"').status == 200
    assert ask_kept(BIG, Range="bytes=0-4", If_Range=tag).body == LARGE_BODY[:5]
    for stale in ('"other"', f"W/{tag}", "Sun, 01 Mar 2026 12:00:00 GMT"):
        assert ask_kept(BIG, Range="bytes=0-4", If_Range=stale).status == 200


def test_head_says_the_same_without_the_bytes(ask_kept: Ask) -> None:
    whole, head = ask_kept(BIG), ask_kept(BIG, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert {**whole.headers, "date": ""} == {**head.headers, "date": ""}
    part = ask_kept(BIG, method="HEAD", Range="bytes=1-2")
    assert (part.status, part.headers["content-length"]) == (206, "2")


def test_nothing_that_the_site_said_is_acted_on(ask_kept: Ask) -> None:
    headers = ask_kept(f"/web/{STAMP}/{PAGE}").headers
    for name, _ in COOKIES:
        if name.lower() not in ("content-security-policy", "link"):
            assert name.lower() not in headers
    assert headers["x-archive-orig-set-cookie"] == "a=1, b=2"
    assert headers["x-archive-orig-content-security-policy"] == "default-src *"
    assert headers["x-archive-orig-content-encoding"] == "br"
    assert "elsewhere" not in headers["link"]
    assert headers["content-security-policy"].startswith("sandbox")
    assert "allow-same-origin" not in headers["content-security-policy"]
    assert "allow-scripts" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_headers_without_end_or_sense_are_left_out() -> None:
    assert archived_headers((("X", "a\r\nSet-Cookie: b"), ("Bad name", "x"), ("", "y"), ("Connection", "close"))) == {
        "x-archive-orig-x": "aSet-Cookie: b"
    }
    value = "v" * 100_000
    many = archived_headers(tuple((f"X-{number}", value) for number in range(1_000)))
    assert 0 < sum(map(len, [*many, *many.values()])) < 20_000
    assert len(archived_headers(tuple((f"X-{number}", "") for number in range(1_000)))) == 60


def test_what_is_to_be_saved_has_a_safe_name(ask_kept: Ask) -> None:
    answer = ask_kept(f"/web/{STAMP}dl_/{LARGE}")
    assert answer.headers["content-disposition"] == f'attachment; filename="suur-{STAMP}.bin"'
    assert answer.body == LARGE_BODY


@pytest.mark.parametrize("purpose", ["script", "worker", "serviceworker"])
def test_an_archived_script_is_shown_but_never_run(ask_kept: Ask, purpose: str) -> None:
    assert ask_kept(f"/web/{STAMP}/{SCRIPT}", Sec_Fetch_Dest=purpose).status == 403
    assert ask_kept(f"/web/{STAMP}/{SCRIPT}", Sec_Fetch_Dest="document").body.startswith(b"document.title")


def open_evil(page: Page, kept: KeptWeb) -> list[str]:
    """Open the page that means no good; what was asked of the server meanwhile."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    page.goto(f"{kept.address}web/{STAMP}/{EVIL}")
    page.wait_for_timeout(300)
    return asked


def test_a_script_in_an_archived_page_has_no_rights(browser: Browser, kept: KeptWeb) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{kept.address}problems")
        page.evaluate("localStorage.setItem('ours', 'secret'); document.cookie = 'ours=secret'")
        asked = open_evil(page, kept)
        assert page.title() == "before"
        assert "/api/status" not in asked
        assert page.url.endswith(f"/web/{STAMP}/{EVIL}")
        assert page.evaluate("origin") == "null"
        for secret in ("document.cookie", "localStorage.getItem('ours')"):
            with pytest.raises(Exception, match="sandbox"):
                page.evaluate(secret)
        assert page.evaluate("fetch('/api/status').then(() => 'read', () => 'denied')") == "denied"
        assert page.evaluate("document.getElementById('near').naturalWidth") == 20
        assert page.evaluate("document.getElementById('far').naturalWidth") == 0
        page.locator("p").click()
        page.locator("button").click()
        page.wait_for_timeout(200)
        assert (page.title(), page.url.endswith(EVIL)) == ("before", True)
        page.goto(f"{kept.address}problems")
        assert page.evaluate("[document.cookie, localStorage.getItem('stolen')]") == ["ours=secret", None]


def test_the_same_page_without_the_policy_would_read_everything(browser: Browser, kept: KeptWeb) -> None:
    """So that the test above is known to be able to fail."""

    def unguarded(route: Any) -> None:
        body = EVIL_BODY.decode().replace("<base", "<b").replace("<meta", "<b")
        route.fulfill(status=200, content_type="text/html", body=body)

    with browser.new_context() as context:
        page = context.new_page()
        page.route("**/web/**", unguarded)
        page.goto(f"{kept.address}web/{STAMP}/{EVIL}")
        page.wait_for_function("document.title.startsWith('read ')", timeout=PATIENCE * 1_000)


def test_bytes_that_were_dropped_are_gone_and_still_known(kept: KeptWeb, ask_kept: Ask) -> None:
    url = "http://unustatud.test/"
    keeper = Keeper(kept.house)
    keeper.new(url, b"unustatud", at(0))
    keeper.close()
    with sqlite3.connect(kept.house.settings.catalogue_uri.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE blob SET dropped_at = 1 WHERE size = 9")
    answer = ask_kept(f"/web/{STAMP}/{url}")
    assert (answer.status, answer.json["code"]) == (410, "body-dropped")
    assert ask_kept(f"/api/versions?url={url}").json["versions"][0]["stored"] == "dropped"
    assert "Save" not in ask_kept(f"/versions?url={url}").text


def test_a_body_that_is_damaged_in_the_middle_is_broken_off(kept: KeptWeb, ask_kept: Ask) -> None:
    url = "http://rikutud.test/"
    keeper = Keeper(kept.house)
    version = keeper.new(url, LARGE_BODY[::-1], at(0), media_type="text/plain")
    keeper.close()
    path = Path(kept.house.archive_folder, version.body.file)
    with path.open("r+b") as file:
        file.seek(version.body.offset + 2_000_000)
        file.write(b"\0" * 100)
    where = urlsplit(kept.address)
    with socket.create_connection((where.hostname, where.port), 10) as client:
        client.sendall(f"GET /web/{STAMP}/{url} HTTP/1.0\r\nHost: {where.netloc}\r\n\r\n".encode())
        received = b"".join(iter(lambda: client.recv(1 << 20), b""))
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"content-length: 3000000" in head.lower()
    assert 0 < len(body) < 3_000_000
    assert ask_kept(f"/web/{STAMP}/{EVIL}").status == 200
