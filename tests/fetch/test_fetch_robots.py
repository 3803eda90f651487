"""What robots.txt files allow, however they are written."""

from __future__ import annotations

import io
import time
from datetime import UTC, datetime
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


def _visit(body: bytes, status: int = 200) -> Visit:
    answer = Answer(
        status=status,
        reason="",
        http_version="1.1",
        request_headers=(),
        headers=(),
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


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 410, 429])
def test_without_a_robots_txt_everything_is_allowed(status: int) -> None:
    rules = _rules("User-agent: *\nDisallow: /", status)
    assert rules.allows("http://x.test/a")
    assert not rules.deferred
    assert rules.crawl_delay is None


@pytest.mark.parametrize("status", [0, 500, 503, 599])
def test_a_host_in_trouble_is_deferred(status: int) -> None:
    rules = _rules("", status)
    assert rules.deferred
    assert not rules.allows("http://x.test/a")


def test_the_rules_of_an_origin_stand_at_its_root() -> None:
    assert robots_url("https://www.example.ee") == "https://www.example.ee/robots.txt"
    assert robots_url("http://x.test:8080/") == "http://x.test:8080/robots.txt"


def test_a_robots_txt_is_read_as_utf8_without_its_mark() -> None:
    robots = read_robots(_visit("\ufeffUser-agent: *\nDisallow: /õun\n".encode() + b"Disallow: /\xff\x00x"), NOW)
    assert robots.text == "User-agent: *\nDisallow: /õun\nDisallow: /\ufffdx"
    assert (robots.status, robots.fetched_at) == (200, NOW)
    rules = RobotRules(robots)
    assert not rules.allows("http://x.test/%C3%B5un")
    assert rules.allows("http://x.test/oun")


def test_no_more_than_500_kib_are_read() -> None:
    robots = read_robots(_visit(b"User-agent: *\n" + b"# nothing\n" * 60_000 + b"Disallow: /\n"), NOW)
    assert len(robots.text) == 500 * 1024
    assert RobotRules(robots).allows("http://x.test/a")


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


@pytest.mark.parametrize("separator", ["\n", "\x85", "\r", "\u2028"])
def test_a_robots_txt_made_to_fill_the_memory_does_not(separator: str) -> None:
    agents = separator.join(f"User-agent: a{number}" for number in range(12_000))
    rules = separator.join(f"Disallow: /{number}*" for number in range(12_000))
    began = time.process_time()
    parsed = _rules(f"{agents}{separator}User-agent: rehi{separator}{rules}")
    assert not parsed.allows("http://x.test/11999/x")
    assert time.process_time() - began < 3


def test_patterns_full_of_stars_cost_no_time() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /{'*a' * 20}*b{number}\n" for number in range(5_000))
    rules = _rules(text)
    began = time.process_time()
    assert rules.allows("http://x.test/" + "a" * 2_000)
    assert time.process_time() - began < 2
