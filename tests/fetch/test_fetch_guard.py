"""Where a visit may go, and where it may not."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.errors import AddressDenied, RedirectLoop, SettingsError, TimedOut
from rehi.fetch import Fetcher, redirect_target
from rehi.fetch.guard import Guard
from rehi.fetch.route import Router, parse_rule
from rehi.fetch.target import parse_target
from rehi.model.visit import Visit
from rehi.settings import FetchSettings

if TYPE_CHECKING:
    from tests.fetch.conftest import RawServer, Visiting

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def _redirect(location: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 4\r\n\r\ngone".encode()


def _denied(ended: Visit) -> str:
    assert ended.answer is None
    assert type(ended.error) is AddressDenied, repr(ended.error)
    return str(ended.error)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "not an address",
        "",
    ],
)
def test_addresses_that_are_not_public_are_closed(address: str) -> None:
    assert not Guard(allow_private=[], ports=[80]).admits(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "100.63.255.255",
        "100.128.0.1",
        "172.32.0.1",
        "193.40.5.73",
        "223.255.255.255",
        "2001:4860:4860::8888",
        "2a07:1180::1",
        "::ffff:193.40.5.73",
        "64:ff9b::193.40.5.73",
        "2002:c128:549::1",
    ],
)
def test_public_addresses_are_open(address: str) -> None:
    assert Guard(allow_private=[], ports=[80]).admits(address)


def test_private_networks_open_only_as_far_as_allowed() -> None:
    guard = Guard(allow_private=["127.0.0.0/8", "fd00::/8"], ports=[80])
    assert guard.admits("127.0.0.1")
    assert guard.admits("::ffff:127.0.0.1")
    assert guard.admits("fd00::1")
    assert not guard.admits("::1")
    assert not guard.admits("10.0.0.1")
    assert not guard.admits("fc00::1")


@pytest.mark.parametrize("network", ["localhost", "127.0.0.1/8", "300.0.0.0/8", "", "10.0.0.0/99"])
def test_a_network_that_is_none_is_a_wrong_setting(network: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.allow_private"):
        Guard(allow_private=[network], ports=[80])


def test_a_port_that_is_none_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match=r"fetch\.ports: 70000"):
        Guard(allow_private=[], ports=[80, 70_000])


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "localhost",
        "localhost.",
    ],
)
def test_loopback_is_denied_in_every_spelling(server: RawServer, visit: Visiting, host: str) -> None:
    server.replies["/"] = OK
    message = _denied(visit(f"http://{host}:{server.port}/", allow_private=[]))
    assert "fetch.allow_private" in message
    assert server.connections == 0


def test_a_rule_does_not_open_a_private_network(server: RawServer, visit: Visiting) -> None:
    _denied(visit("http://www.rehemaa.test/", allow_private=[]))
    _denied(visit("http://www.rehemaa.test/", allow_private=["10.0.0.0/8"]))
    assert server.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://www.rehemaa.test/",
        "gopher://127.0.0.1:70/",
        "javascript:alert(1)",
        "dns:www.rehemaa.test",
        "www.rehemaa.test",
        "http://",
        "http://[::1",
        "http://a b/",
        "",
        "http:///\x00\r\n" + "x" * 5_000,
    ],
)
def test_what_is_not_the_web_is_not_visited(visit: Visiting, url: str) -> None:
    message = _denied(visit(url))
    assert len(message) < 300
    assert message.isprintable()


def test_other_ports_are_not_visited(server: RawServer, visit: Visiting) -> None:
    assert "port 22 is not among fetch.ports" in _denied(visit("http://www.rehemaa.test:22/"))
    _denied(visit(server.url("/"), ports=[80, 443]))
    assert server.connections == 0


def test_a_proxy_variable_changes_nothing(server: RawServer, visit: Visiting, monkeypatch: pytest.MonkeyPatch) -> None:
    server.replies["/"] = OK
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert visit(server.url("/")).answer is not None


def test_the_first_rule_that_matches_wins() -> None:
    rules = ["www.x.test:81=127.0.0.3:83", "www.x.test=127.0.0.5:80", "*.x.test=other.example:8600"]
    router = Router(FetchSettings(resolve=rules, ports=[80, 81, 443]))
    named = [parse_rule(rule) for rule in rules]
    urls = ("http://www.x.test:81/", "http://www.x.test/", "https://a.b.x.test/")
    assert [router.route_to(parse_target(url)).rule for url in urls] == named
    assert router.route_to(parse_target("http://x.test/")).rule is None
    assert router.route_to(parse_target("http://yx.test/")).rule is None
    assert router.route_to(parse_target("http://www.x.test./")).rule == named[1]


def test_rules_for_everything_and_for_ipv6_are_understood() -> None:
    assert parse_rule("*=[::1]:80").host == "[::1]"
    assert parse_rule("[::1]:443=A.test:1").matches("[::1]", 443)


@pytest.mark.parametrize(
    "rule",
    ["", "www.x.test", "www.x.test=", "=127.0.0.1:80", "a*.test=127.0.0.1:80", "x.test=127.0.0.1", "x=1:2:3:99999x"],
)
def test_a_rule_that_is_none_is_a_wrong_setting(rule: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.resolve"):
        Router(FetchSettings(resolve=[rule]))


def test_a_rule_with_an_impossible_port_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match="65535"):
        Router(FetchSettings(resolve=["x.test=127.0.0.1:70000"]))


def test_a_redirect_is_an_answer_and_not_followed(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = _redirect("/next")
    ended = visit(server.url("/"))
    assert ended.answer is not None
    assert (ended.answer.status, ended.answer.body.read()) == (302, b"gone")
    assert redirect_target(ended.url, ended.answer) == server.url("/next")
    assert len(server.requests) == 1


def test_a_redirect_is_followed_when_asked_for(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = _redirect("http://other.rehemaa.test/next")
    server.replies["/next"] = OK
    ended = visit("http://www.rehemaa.test/", follow=True, etag='"1"')
    assert ended.answer is not None, ended.error
    assert ended.url == "http://www.rehemaa.test/"
    assert ended.answer.body.read() == b"hi"
    assert ended.answer.request_headers[0] == ("Host", "other.rehemaa.test")
    assert b"If-None-Match" in server.requests[0]
    assert b"If-None-Match" not in server.requests[1]


def test_redirects_are_followed_five_times_and_not_more(server: RawServer, visit: Visiting) -> None:
    for number in range(6):
        server.replies[f"/{number}"] = _redirect(f"/{number + 1}")
    server.replies["/6"] = OK
    assert visit(server.url("/1"), follow=True).answer is not None
    ended = visit(server.url("/0"), follow=True)
    assert type(ended.error) is RedirectLoop
    assert len(server.requests) == 12


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "http://10.0.0.1/", "http://[::ffff:10.0.0.1]/", "http://www.rehemaa.test:22/"]
)
def test_a_followed_redirect_can_not_leave_the_web(server: RawServer, visit: Visiting, location: str) -> None:
    server.replies["/"] = _redirect(location)
    _denied(visit(server.url("/"), follow=True))


def test_all_hops_together_get_the_time_of_one_visit(server: RawServer, visit: Visiting) -> None:
    def hesitate(connection: socket.socket, request: bytes) -> None:
        time.sleep(0.4)
        connection.sendall(_redirect("/" + "x" * (request.count(b"x") + 1)))

    for number in range(4):
        server.replies["/" + "x" * number] = hesitate
    server.replies["/xxxx"] = OK
    ended = visit(server.url("/"), follow=True, timeout=1.0)  # each of them is done in less
    assert type(ended.error) is TimedOut
    assert ended.seconds > 0.9


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/õun#koht", "http://www.x.test/%C3%B5un"),
        ("//y.test", "http://y.test/"),
        ("../a", "http://www.x.test/a"),
        ("https://Y.test:443/?q", "https://y.test/?q"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("http://[", ""),
        ("", ""),
        ("/" + "a" * 9_000, ""),
    ],
)
def test_a_location_is_read_against_its_page(server: RawServer, visit: Visiting, location: str, target: str) -> None:
    server.replies["/"] = _redirect(location)
    answer = visit(server.url("/")).answer
    assert answer is not None
    assert redirect_target("http://www.x.test/b/c", answer) == target


def test_an_ordinary_page_leads_nowhere(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = b"HTTP/1.1 200 OK\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n"
    answer = visit(server.url("/")).answer
    assert answer is not None
    assert redirect_target(server.url("/"), answer) == ""


_ODD = st.text(alphabet="htps:/.@[]%?#\\ 0x1aõ\t\r\n-_*~=&", max_size=40)


@given(_ODD, st.sampled_from(["", "http://", "https://", "http://a.test/", "http://a.test:80"]))
def test_no_url_breaks_the_parser_and_all_parse_alike(text: str, head: str) -> None:
    try:
        target = parse_target(head + text)
    except AddressDenied:
        return
    again = parse_target(target.url)
    assert (again.host, again.port, again.authority) == (target.host, target.port, target.authority)
    assert target.url.isascii()
    assert target.url.isprintable()
    assert " " not in target.url


def test_the_quick_parser_agrees_with_the_complete_one() -> None:
    import ada_url

    for url in (
        "http://www.rehemaa.test/",
        "http://www.rehemaa.test/a/b.html?x=1&y=../..",
        "https://x.test:8443/a.b.c/d;e=f",
        "http://x.test:080/a",
        "http://x.test/a/.b/..c/d.",
        "http://x.test/a/./b/../c",
        "http://x.test/%2e%2e/a",
        "http://x.test",
        "http://a.1/",
        "http://x.test./",
    ):
        try:
            complete = ada_url.URL(url)
        except ValueError:
            with pytest.raises(AddressDenied):
                parse_target(url)
            continue
        target = parse_target(url)
        assert target.authority == complete.host, url
        assert target.host == complete.hostname, url


def test_a_fetcher_for_wrong_settings_is_not_made() -> None:
    with pytest.raises(SettingsError, match=r"fetch\.resolve"):
        Fetcher[int](FetchSettings(resolve=["nonsense"]), clock=lambda: pytest.fail("no visit was made"))
