"""What robots.txt files allow, however they are written."""

from __future__ import annotations

import io
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rehi.errors import AddressDenied, FetchError, RedirectLoop, TimedOut, TooLarge
from rehi.fetch import RobotRules, read_robots, robots_url
from rehi.model.version import Digest
from rehi.model.visit import Answer, Robots, Visit

if TYPE_CHECKING:
    from tests.fetch.conftest import RawServer, Visiting

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def _rules(text: str, status: int = 200) -> RobotRules:
    return RobotRules(Robots(status=status, text=text, fetched_at=NOW))


def _visit(body: bytes, status: int = 200, content_type: str = "text/plain") -> Visit:
    answer = Answer(
        status=status,
        reason="",
        http_version="1.1",
        request_headers=(),
        headers=(("Content-Type", content_type),),
        address="127.0.0.1",
        body=io.BytesIO(body),
        size=len(body),
        digest=Digest("sha256:"),
    )
    return Visit(url="http://x.test/robots.txt", started_at=NOW, seconds=0.1, answer=answer)


def test_disallowed_paths_are_not_visited() -> None:
    rules = _rules("User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.pdf$\nCrawl-delay: 2.5")
    assert rules.allows("http://x.test/")
    assert not rules.allows("http://x.test/private/a")
    assert rules.allows("http://x.test/private/open/a")
    assert not rules.allows("http://x.test/a.pdf")
    assert rules.allows("http://x.test/a.pdf?x")
    assert rules.crawl_delay == 2.5
    assert not rules.deferred


@pytest.mark.parametrize("agent", ["rehi", "REHI", "Rehi/1.0", "rehi*", "rehi (web archive)"])
def test_rules_for_us_go_before_rules_for_everybody(agent: str) -> None:
    rules = _rules(f"User-agent: *\nDisallow: /\n\nUser-agent: {agent}\nDisallow: /a\nCrawl-delay: 7")
    assert rules.allows("http://x.test/b")
    assert not rules.allows("http://x.test/a")
    assert rules.crawl_delay == 7.0


@pytest.mark.parametrize("agent", ["re", "r", "rehibot", "Googlebot", "rehi-2", "x-not-us"])
def test_rules_for_others_are_not_for_us(agent: str) -> None:
    rules = _rules(f"User-agent: {agent}\nDisallow: /\nCrawl-delay: 9")
    assert rules.allows("http://x.test/a")
    assert rules.crawl_delay is None


def test_a_group_with_several_agents_holds_for_each() -> None:
    rules = _rules("User-agent: a\nUser-agent: rehi # us\nUser-agent: b\nDisallow: /x\n\nUser-agent: c\nDisallow: /y")
    assert not rules.allows("http://x.test/x")
    assert rules.allows("http://x.test/y")


@pytest.mark.parametrize("status", [200, 404, 500, 0])
def test_robots_txt_itself_may_always_be_read(status: int) -> None:
    rules = _rules("User-agent: *\nDisallow: /", status)
    assert rules.allows("http://x.test/robots.txt")
    assert rules.allows("http://x.test/a/robots.txt") == (status == 404)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 410])
def test_without_a_robots_txt_everything_is_allowed(status: int) -> None:
    rules = _rules("User-agent: *\nDisallow: /", status)
    assert rules.allows("http://x.test/a")
    assert not rules.deferred
    assert rules.crawl_delay is None
    assert rules.group_text == ""


@pytest.mark.parametrize("status", [0, 429, 500, 503, 599])
def test_a_host_in_trouble_is_deferred(status: int) -> None:
    rules = _rules("", status)
    assert rules.deferred
    assert not rules.allows("http://x.test/a")


@pytest.mark.parametrize(("days", "deferred"), [(0, True), (29, True), (30, False), (400, False)])
def test_after_a_month_of_trouble_a_host_has_no_robots_txt(days: int, deferred: bool) -> None:
    robots = Robots(status=503, text="", fetched_at=NOW, failing_since=NOW - timedelta(days=days))
    rules = RobotRules(robots)
    assert rules.deferred == deferred
    assert rules.allows("http://x.test/a") != deferred
    assert RobotRules(robots, unreachable=400 * 86_400 + 1).deferred
    assert RobotRules(robots, unreachable=1).deferred == (days == 0)


def test_after_a_month_of_trouble_the_rules_hold_that_were_last_known() -> None:
    text = "User-agent: *\nDisallow: /a\nCrawl-delay: 9"
    before = Robots(status=200, text=text, fetched_at=NOW - timedelta(days=40))
    lost = read_robots(_visit(b"", 503), NOW - timedelta(days=31), before=before)
    assert (lost.text, lost.failing_since) == (text, NOW - timedelta(days=31))
    waiting = RobotRules(lost)
    assert (waiting.deferred, waiting.crawl_delay, waiting.group_text) == (True, None, "")
    assert not waiting.allows("http://x.test/b")
    rules = RobotRules(read_robots(_visit(b"", 500), NOW, before=lost))
    assert (rules.deferred, rules.crawl_delay) == (False, 9.0)
    assert rules.allows("http://x.test/b")
    assert not rules.allows("http://x.test/a")


def test_since_when_a_robots_txt_can_not_be_had() -> None:
    nobody = Visit(url="http://x.test/robots.txt", started_at=NOW, seconds=1.0, error=TimedOut("x"))
    assert read_robots(nobody, NOW).failing_since == NOW
    assert read_robots(_visit(b"", 404), NOW).failing_since is None
    older = Robots(status=0, text="", fetched_at=NOW - timedelta(days=2))  # from before that was remembered
    lost = read_robots(nobody, NOW, before=older)
    assert lost.failing_since == NOW - timedelta(days=2)
    assert read_robots(_visit(b"", 429), NOW + timedelta(days=1), before=lost).failing_since == lost.failing_since
    for status in (200, 404):
        robots = read_robots(_visit(b"User-agent: *", status), NOW, before=lost)
        assert robots.failing_since is None
        assert read_robots(nobody, NOW, before=robots).failing_since == NOW


def test_the_rules_of_an_origin_stand_at_its_root() -> None:
    assert robots_url("https://www.example.ee") == "https://www.example.ee/robots.txt"
    assert robots_url("http://x.test:8080/") == "http://x.test:8080/robots.txt"


def test_a_robots_txt_is_read_as_utf8_without_its_mark() -> None:
    robots = read_robots(_visit("\ufeffUser-agent: *\nDisallow: /õun\n".encode() + b"Disallow: /\x00x"), NOW)
    assert robots.text == "User-agent: *\nDisallow: /õun\nDisallow: /x"
    assert (robots.status, robots.fetched_at) == (200, NOW)
    rules = RobotRules(robots)
    assert not rules.allows("http://x.test/%C3%B5un")
    assert rules.allows("http://x.test/oun")


_TEXT = "User-agent: *\nDisallow: /õun\n"


@pytest.mark.parametrize(
    "body",
    [
        _TEXT.encode("utf-8-sig"),
        b"\xef\xbb" + _TEXT.encode(),
        b"\xef" + _TEXT.encode(),
        _TEXT.encode("utf-16"),
        b"\xfe\xff" + _TEXT.encode("utf-16-be"),
        _TEXT.encode("utf-16-le"),
        _TEXT.encode("utf-16-be"),
        _TEXT.encode("utf-32"),
        _TEXT.encode("latin-1"),
        _TEXT.replace("\n", "\r").encode("latin-1"),
    ],
)
def test_a_robots_txt_is_read_in_whatever_it_is_encoded(body: bytes) -> None:
    rules = RobotRules(read_robots(_visit(body), NOW))
    assert not rules.allows("http://x.test/%C3%B5unad")
    assert rules.allows("http://x.test/oun")


def test_octets_that_are_no_utf8_stand_for_themselves_and_for_letters() -> None:
    body = "User-agent: *\nDisallow: /юг\nDisallow: /a".encode("koi8-r")
    rules = RobotRules(read_robots(_visit(body, content_type='text/plain; charset="KOI8-R"'), NOW))
    assert not rules.allows("http://x.test/%C0%C7")
    assert not rules.allows("http://x.test/%D1%8E%D0%B3")
    assert not rules.allows("http://x.test/a")
    assert rules.allows("http://x.test/b")


def test_a_large_robots_txt_is_cut_and_its_beginning_holds() -> None:
    robots = read_robots(_visit(b"User-agent: *\nDisallow: /a\n" + b"# nothing\n" * 60_000 + b"Disallow: /\n"), NOW)
    assert 511_980 < len(robots.text) <= 500 * 1024
    rules = RobotRules(robots)
    assert rules.allows("http://x.test/b")
    assert not rules.allows("http://x.test/a")


def test_half_a_line_at_the_cut_forbids_nothing() -> None:
    head = b"User-agent: *\n"
    body = head + b"#" * (500 * 1024 - len(head) - 12) + b"\nDisallow: /private\n"
    assert body[: 500 * 1024].endswith(b"\nDisallow: /")
    assert RobotRules(read_robots(_visit(body), NOW)).allows("http://x.test/a")
    assert RobotRules(Robots(status=200, text=body.decode(), fetched_at=NOW)).allows("http://x.test/a")


def test_a_web_page_in_place_of_a_robots_txt_forbids_nothing() -> None:
    page = b"<!DOCTYPE html>\n<html><head><title>Not found</title></head>\n<body>\n<p>User-agent: *</p>\n</body></html>"
    rules = RobotRules(read_robots(_visit(page, content_type="text/html"), NOW))
    assert rules.allows("http://x.test/a")
    assert not rules.deferred


def test_the_host_page_can_show_the_lines_that_hold_for_us() -> None:
    text = (
        "User-agent: other\nDisallow: /\n\nUSER-AGENT: rehi # you\nDissalow: /a\nCrawl-delay: 3\nNoindex: /b\n"
        "Sitemap: https://x.test/s.xml\n\nUser-agent: *\nDisallow: /c\nUser-agent: rehi\nAllow: /d"
    )
    rules = _rules(text)
    assert rules.group_text.splitlines() == [
        "User-agent: rehi",
        "Disallow: /a",
        "Crawl-delay: 3",
        "User-agent: rehi",
        "Allow: /d",
    ]
    assert _rules(text.replace("rehi", "others")).group_text == "User-agent: *\nDisallow: /c"


def test_sitemaps_are_found_wherever_they_stand() -> None:
    text = "Sitemap: https://x.test/A.xml\nUser-agent: other\nsite-map : /b.xml\nDisallow: /\nSitemap: https://x.test/A.xml"
    assert _rules(text).sitemaps == ("https://x.test/A.xml", "/b.xml")
    assert len(_rules("".join(f"Sitemap: /{at}\n" for at in range(5_000))).sitemaps) == 1_000


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 86400", 86_400.0),
        ("User-agent: *\nCrawl-delay: 2\nUser-agent: *\nCrawl-delay: 5\nDisallow: /a\nCrawl-delay: 3", 5.0),
        ("User-agent: *\nCrawl-delay: 0,5 s", 0.5),
        ("User-agent: *\nCrawl-delay 10", 10.0),
        ("User-agent: *\nCrawl-delay: 5\nUser-agent: rehi\nDisallow: /a", None),
        ("User-agent: rehi\nCrawl-delay: 10\nUser-agent: other\nCrawl-delay: 20\nUser-agent: *\nDisallow: /a", 10.0),
        ("User-agent: other\nCrawl-delay: 20\nUser-agent: *\nDisallow: /a", None),
        ("Crawl-delay: 5", None),
        ("User-agent: *\nCrawl-delay: -5", None),
        ("User-agent: *\nCrawl-delay: soon", None),
    ],
)
def test_the_longest_delay_that_is_asked_of_us_is_found(text: str, delay: float | None) -> None:
    assert _rules(text).crawl_delay == delay


def test_an_error_page_is_no_robots_txt() -> None:
    visit = _visit(b"User-agent: *\nDisallow: /", 404)
    robots = read_robots(visit, NOW)
    assert (robots.status, robots.text) == (404, "")
    assert visit.answer is not None
    assert visit.answer.body.closed


@pytest.mark.parametrize(
    ("error", "deferred"),
    [(TimedOut("x"), True), (TooLarge("x"), True), (RedirectLoop("x"), False), (AddressDenied("x"), False)],
)
def test_when_nobody_answers_the_host_waits(error: FetchError, deferred: bool) -> None:
    visit = Visit(url="http://x.test/robots.txt", started_at=NOW, seconds=1.0, error=error)
    assert RobotRules(read_robots(visit, NOW)).deferred == deferred


def test_a_robots_txt_comes_over_the_wire_and_its_redirect(server: RawServer, visit: Visiting) -> None:
    server.replies["/robots.txt"] = (
        b"HTTP/1.1 301 Moved\r\nLocation: http://www.y.test/r.txt\r\nContent-Length: 0\r\n\r\n"
    )
    server.replies["/r.txt"] = b"HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\nUser-agent: *\nDisallow: /no\n"
    rules = RobotRules(read_robots(visit(robots_url("http://x.test"), follow=True), NOW))
    assert not rules.allows("http://x.test/no")


_LINE = st.tuples(
    st.sampled_from(
        ["user-agent", "User agent", "disallow", "Allow", "crawl-delay", "request-rate", "visit-time", "sitemap"]
    ),
    st.sampled_from([":", " ", ": ", "::", "\x85"]),
    st.text(max_size=20) | st.sampled_from(["*", "rehi", "/", "/*", "nan", "1e999", "-1", "9" * 5_000, "%", "%zz"]),
).map("".join)


@given(st.lists(_LINE | st.text(max_size=30), max_size=12).map("\n".join), st.text(max_size=20))
@example("User-agent: *\nDisallow: /", "http://[")
def test_no_content_breaks_the_rules(text: str, url: str) -> None:
    rules = _rules(text)
    assert rules.allows(url) in (True, False)
    assert rules.allows(f"http://x.test/{url}") in (True, False)
    delay = rules.crawl_delay
    assert delay is None or 0 <= delay < float("inf")


@pytest.mark.parametrize("separator", ["\n", "\r", "\r\n"])
def test_a_robots_txt_made_to_fill_the_memory_does_not(separator: str) -> None:
    agents = separator.join(f"User-agent: a{number}" for number in range(12_000))
    rules = separator.join(f"Disallow: /{number}*" for number in range(12_000))
    began = time.process_time()
    parsed = _rules(f"{agents}{separator}User-agent: rehi{separator}{rules}")
    assert not parsed.allows("http://x.test/11999/x")
    assert time.process_time() - began < 3


@pytest.mark.parametrize("pattern", ["/" + "*a" * 20 + "*b", "/*" + "a" * 50 + "b" + "a" * 50, "/*" + "a" * 100 + "*b"])
@pytest.mark.parametrize("length", [2_000, 8_000])
def test_patterns_full_of_stars_cost_no_time(pattern: str, length: int) -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: {pattern}{number}\n" for number in range(999))
    rules = _rules(text)
    began = time.process_time()
    assert rules.allows("http://x.test/" + "a" * length)
    assert time.process_time() - began < 0.5


def test_a_file_with_stars_beyond_reason_forbids_more_than_it_says() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /{number}/*x\n" for number in range(3_000)) + "Allow: /2/*z\n"
    rules = _rules(text)
    assert rules.allows("http://x.test/5/y")
    assert not rules.allows("http://x.test/5/x")
    assert not rules.allows("http://x.test/2999/y")
