"""Memento (RFC 7089): the TimeGate, TimeMaps, and what mementos say of their neighbours."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.keeper import Keeper, at
from tests.serve.conftest import Ask
from tests.serve.kept_web import BARE, EVIL, LINE, MIDDLE, NEW, OLD, PAGE, QUERY, KeptWeb

FIRST, AGAIN, SECOND, THIRD = "20260301120000", "20260302120000", "20260311120000", "20260321120000"


def relations(link: str) -> dict[str, str]:
    """The targets of a Link header or a TimeMap by their relations."""
    found = {}
    for target, rel in re.findall(r'<([^>]*)>\s*;[^<]*?rel="([^"]*)"', link):
        for one in rel.split():
            if one != "memento" or rel == "memento":
                found[one] = target
    return found


@pytest.mark.parametrize(
    ("when", "stamp"),
    [
        (None, THIRD),
        ("Sun, 01 Mar 2026 12:00:00 GMT", FIRST),
        ("Sun, 01 Mar 2020 12:00:00 GMT", FIRST),
        ("Mon, 02 Mar 2026 00:00:00 GMT", FIRST),  # as far from the next one
        ("Mon, 02 Mar 2026 00:00:01 GMT", AGAIN),
        ("Mon, 09 Mar 2026 00:00:00 GMT", SECOND),
        ("Fri, 01 Mar 2030 12:00:00 GMT", THIRD),
    ],
)
def test_the_timegate_leads_to_what_is_closest(ask_kept: Ask, kept: KeptWeb, when: str | None, stamp: str) -> None:
    answer = ask_kept(f"/web/{PAGE}", **({"Accept_Datetime": when} if when else {}))
    assert (answer.status, answer.headers["location"]) == (302, f"/web/{stamp}/{PAGE}")
    assert "accept-datetime" in answer.headers["vary"].lower()
    assert "memento-datetime" not in answer.headers
    said = relations(answer.headers["link"])
    assert said["original"] == PAGE
    assert said["timemap"] == f"{kept.address}web/timemap/link/{PAGE}"


@pytest.mark.parametrize("when", ["yesterday", "", "2026-03-01", "Sun, 31 Feb 2026 12:00:00 GMT"])
def test_an_accept_datetime_that_is_none_is_refused(ask_kept: Ask, when: str) -> None:
    answer = ask_kept(f"/web/{PAGE}", Accept_Datetime=when)
    assert answer.status == 400
    assert answer.headers["vary"] == "accept-datetime"
    assert "GMT" in answer.json["detail"]


@pytest.mark.parametrize(
    ("stamp", "body"), [(FIRST, OLD), (AGAIN, OLD), (SECOND, MIDDLE), (THIRD, NEW)], ids=["1", "again", "2", "3"]
)
def test_a_memento_says_when_it_was_and_what_is_around_it(
    ask_kept: Ask, kept: KeptWeb, stamp: str, body: bytes
) -> None:
    answer = ask_kept(f"/web/{stamp}/{PAGE}")
    assert (answer.status, answer.body) == (200, body)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["memento-datetime"].endswith("Mar 2026 12:00:00 GMT")
    stamps = [FIRST, AGAIN, SECOND, THIRD]
    place, said = stamps.index(stamp), relations(answer.headers["link"])
    expected = {"first": FIRST, "last": THIRD}
    expected |= {"prev": stamps[place - 1]} if place else {}
    expected |= {"next": stamps[place + 1]} if place < 3 else {}
    found = {name: said[name] for name in ("first", "last", "prev", "next") if name in said}
    assert found == {name: f"{kept.address}web/{digits}/{PAGE}" for name, digits in expected.items()}
    assert said["timegate"] == f"{kept.address}web/{PAGE}"
    assert said["original"] == PAGE


@pytest.mark.parametrize(
    ("digits", "stamp"),
    [("2026", FIRST), ("202603", FIRST), ("20260310", SECOND), ("20300101000000", THIRD), ("20260311115959", SECOND),
     (SECOND + "250000", SECOND)],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["", "id_", "if_"])
def test_digits_that_are_not_exact_lead_to_those_that_are(ask_kept: Ask, digits: str, stamp: str, mode: str) -> None:
    answer = ask_kept(f"/web/{digits}{mode}/{PAGE}")
    assert (answer.status, answer.headers["location"]) == (302, f"/web/{stamp}{mode}/{PAGE}")


def test_digits_that_are_no_moment_are_refused(ask_kept: Ask) -> None:
    assert ask_kept(f"/web/20261301000000/{PAGE}").status == 400


def test_two_captures_of_one_second_can_both_be_had(kept: KeptWeb, ask_kept: Ask) -> None:
    url = "http://kiire.test/"
    keeper = Keeper(kept.house)
    keeper.new(url, b"enne", at(0))
    keeper.new(url, b"parast", at(0.5 / 86_400))
    keeper.close()
    found = [
        one["uri"].removeprefix(kept.address) for one in ask_kept(f"/web/timemap/json/{url}").json["mementos"]["list"]
    ]
    assert found == [f"web/20260301120000/{url}", f"web/20260301120000750000/{url}"]
    assert [ask_kept(f"/{path}").body for path in found] == [b"enne", b"parast"]


@pytest.mark.parametrize("url", [QUERY, LINE, BARE], ids=["query", "escapes", "bare"])
def test_every_character_of_a_url_is_meant_as_it_stands(ask_kept: Ask, kept: KeptWeb, url: str) -> None:
    listed = ask_kept(f"/web/timemap/json/{url}").json
    assert listed["original_uri"] == url
    (memento,) = listed["mementos"]["list"]
    answer = ask_kept("/" + memento["uri"].removeprefix(kept.address))
    assert (answer.status, len(answer.body)) == (200, memento["size"])
    gate = ask_kept(f"/web/{quote(url, safe='')}")
    assert ask_kept(gate.headers["location"]).body == answer.body


@pytest.mark.parametrize(
    "written", ["http:/www.rehemaa.test/teated/", "www.rehemaa.test/teated/", "HTTP://WWW.rehemaa.test:80/teated/"]
)
def test_a_url_that_was_changed_on_the_way_is_found(ask_kept: Ask, written: str) -> None:
    answer = ask_kept(f"/web/{FIRST}/{written}")
    while answer.status == 302:
        answer = ask_kept(answer.headers["location"])
    assert answer.body == OLD


def test_a_timemap_in_link_format_lists_every_capture(ask_kept: Ask, kept: KeptWeb) -> None:
    answer = ask_kept(f"/web/timemap/link/{PAGE}")
    assert answer.headers["content-type"] == "application/link-format"
    lines = answer.text.strip().split(",\n")
    assert lines[0] == f'<{PAGE}>; rel="original"'
    assert relations(lines[1])["self"] == f"{kept.address}web/timemap/link/{PAGE}"
    assert relations(lines[2])["timegate"] == f"{kept.address}web/{PAGE}"
    roles = ["first memento", "memento", "memento", "last memento"]
    days = ["Sun, 01", "Mon, 02", "Wed, 11", "Sat, 21"]
    assert lines[3:] == [
        f'<{kept.address}web/{stamp}/{PAGE}>; rel="{role}"; datetime="{day} Mar 2026 12:00:00 GMT"'
        for stamp, role, day in zip((FIRST, AGAIN, SECOND, THIRD), roles, days, strict=True)
    ]


def test_a_timemap_as_json_says_what_changed(ask_kept: Ask) -> None:
    mementos = ask_kept(f"/web/timemap/json/{PAGE}").json["mementos"]
    assert [one["outcome"] for one in mementos["list"]] == ["new", "unchanged", "new", "new"]
    assert (mementos["first"], mementos["last"]) == (mementos["list"][0], mementos["list"][-1])
    assert mementos["first"]["datetime"] == "2026-03-01T12:00:00Z"


def test_a_redirect_leads_to_where_it_led_at_the_same_time(ask_kept: Ask) -> None:
    first = ask_kept("/web/2026/http://rehemaa.test/")
    moved = ask_kept(first.headers["location"])
    assert (moved.status, moved.headers["location"]) == (301, f"/web/{FIRST}/http://rehemaa.test/vana")
    assert moved.headers["memento-datetime"] == "Sun, 01 Mar 2026 12:00:00 GMT"
    closest = ask_kept(moved.headers["location"]).headers["location"]
    further = ask_kept(closest)
    assert (further.status, further.headers["location"]) == (307, f"/web/20260306120000/{PAGE}")
    assert ask_kept("/web/20260306120000/http://rehemaa.test/halb").status == 404


@pytest.mark.parametrize("shape", ["{}", "2026/{}", "*/{}", "timemap/link/{}", "timemap/json/{}"])
def test_what_is_not_kept_is_not_found_and_what_is_meant_is_named(ask_kept: Ask, shape: str) -> None:
    answer = ask_kept("/web/" + shape.format("https://rehemaa.test/teated"))
    assert answer.status == 404
    assert "rehi add" not in answer.json["detail"]
    assert PAGE in answer.json["detail"]
    assert ask_kept("/web/" + shape.format("http://eikusagil.test/")).status == 404


@pytest.mark.parametrize(
    "path", ["/web/", "/web/*", "/web/2026", "/web/2026/", "/web/timemap/link/", "/web/%00", "/web/http://["]
)
def test_what_is_no_address_is_not_found(ask_kept: Ask, path: str) -> None:
    assert ask_kept(path).status == 404


def test_the_host_that_is_asked_for_can_put_nothing_into_headers(guarded: Ask) -> None:
    answer = guarded("/web/http://x.test/", Host='a>; rel="evil", <b')
    assert "evil" not in str(answer.headers)


def test_the_page_of_a_history_shows_opens_and_compares(browser: Browser, kept: KeptWeb, ask_kept: Ask) -> None:
    with browser.new_context(base_url=kept.address, viewport={"width": 360, "height": 740}, is_mobile=True) as context:
        page = context.new_page()
        page.goto(f"/web/*/{PAGE}")
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Versions of {PAGE}")
        assert page.locator("svg rect.changed").count() == 3
        assert page.locator("svg rect.unchanged").count() == 1
        assert page.locator("tbody tr").count() == 3
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.get_by_role("link", name="What changed").first.get_attribute("href") == (
            f"/diff?url={quote(PAGE)}&from=2&to=3"
        )
        assert ask_kept(f"/diff?url={quote(PAGE)}&from=2&to=3").status == 200
        with page.expect_download() as download:
            page.get_by_role("link", name="Save").last.click()
        assert download.value.suggested_filename == "index-20260301120000.html"
        assert download.value.path().read_bytes() == OLD
        page.locator("tbody tr").last.get_by_role("link", name="2026").click()
        expect(page).to_have_title("esimene")
        assert page.url == f"{kept.address}web/{FIRST}/{PAGE}"


def test_a_document_leads_to_its_versions(browser: Browser, kept: KeptWeb) -> None:
    with browser.new_context(base_url=kept.address) as context:
        page = context.new_page()
        page.goto(f"/document?url={quote(PAGE)}")
        page.get_by_role("link", name="The whole history").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Versions of {PAGE}")


def test_versions_are_listed_for_programs(ask_kept: Ask) -> None:
    found = ask_kept(f"/api/versions?url={PAGE}&limit=2").json
    assert found["total"] == 3
    assert [(row["number"], row["stored"]) for row in found["versions"]] == [(3, "whole"), (2, "delta")]
    (copy,) = ask_kept("/api/versions?url=http://koopia.test/x.html").json["versions"]
    assert copy["stored"] == "duplicate"
    assert ask_kept("/api/versions").status == 400
    page = ask_kept(f"/versions?url={PAGE}&limit=1&offset=1").text
    assert "2–2 of 3" in page
    assert "Older →" in page
    assert "redirected whenever" in ask_kept("/versions?url=http://rehemaa.test/").text
    assert ask_kept(f"/versions?url={EVIL}").status == 200
