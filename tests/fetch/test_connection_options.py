"""Hosts with connection options of their own: a proxy, headers, no check of certificates."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme

from rehi.errors import AddressDenied, BadAnswer, ConnectFailed, FetchError, SettingsError, TlsFailed, Truncated
from rehi.fetch import Fetcher
from rehi.fetch.connection_options import DEFAULT_OPTIONS, WITHHELD, ConnectionOptions, make_options
from rehi.fetch.route import Router
from rehi.fetch.target import parse_target
from rehi.model.visit import Visit
from rehi.settings import FetchSettings, HostSettings, load_settings
from tests.fetch.conftest import OnceServer, RawServer, Visiting, now
from tests.fetch.proxy_servers import HttpProxy, ProxyServer, SocksProxy

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
KEY = "Bearer kuusteist-mesilast"

Proxies = Callable[..., ProxyServer]


def _host(match: str, **settings: Any) -> HostSettings:
    return HostSettings(match=match, **settings)


def _options_for(host: str, *hosts: HostSettings) -> ConnectionOptions:
    """Return how a host is reached, given what the settings say of some hosts."""
    settings = FetchSettings(hosts=list(hosts), allow_private=["0.0.0.0/0", "::/0"])
    return Router(settings).route_to(parse_target(f"http://{host}/")).options


@pytest.fixture
def proxies(server: RawServer) -> Iterator[Proxies]:
    """Makes proxies that lead to the server."""
    made: list[ProxyServer] = []

    def make(kind: type[ProxyServer], port: int = 0, **settings: str) -> ProxyServer:
        proxy = kind(("127.0.0.1", port or server.port), **settings)
        made.append(proxy)
        return proxy

    yield make
    for proxy in made:
        proxy.close()


def test_the_first_host_that_matches_holds() -> None:
    hosts = (
        _host("api.example.ee", headers={"X-Key": "1"}),
        _host("*.example.ee", headers={"X-Key": "2"}),
        _host("Õun.ee.", headers={"X-Key": "3"}),
        _host("192.0.2.7", headers={"X-Key": "4"}),
        _host("[2001:DB8::1]", headers={"X-Key": "5"}),
    )
    names = ("api.example.ee", "api.example.ee.", "a.b.example.ee")
    headers = {name: _options_for(name, *hosts).headers for name in names}
    assert headers["api.example.ee"] == headers["api.example.ee."] == (("X-Key", "1"),)
    assert headers["a.b.example.ee"] == (("X-Key", "2"),)
    assert _options_for("xn--un-bka.ee", *hosts).headers == (("X-Key", "3"),)
    assert _options_for("192.0.2.7", *hosts).headers == (("X-Key", "4"),)
    assert _options_for("[2001:db8::1]", *hosts).headers == (("X-Key", "5"),)
    assert _options_for("example.ee", *hosts) is _options_for("other.test", *hosts) is DEFAULT_OPTIONS
    assert _options_for("any.test", _host("*", verify_tls=False)).trusting
    assert not DEFAULT_OPTIONS.trusting


@pytest.mark.parametrize(
    "match", ["", "*.", "a*.test", "*.*.test", "http://a.test", "a.test/x", "a.test:81", "a.test:80", "u@a.test", "a b"]
)
def test_a_pattern_that_is_no_host_is_a_wrong_setting(match: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.hosts.*is not a host"):
        load_settings(fetch={"hosts": [{"match": match}]})


@pytest.mark.parametrize(
    "proxy",
    [
        "proxy:3128",
        "ftp://proxy:21",
        "http://proxy",
        "http://:3128",
        "http://proxy:99999",
        "http://proxy:3128/path",
        "socks5h://name:salajane@pro xy:1080",
        "socks5h://name:sala%0ajane@proxy:1080",
        "socks5h://name:salajane@[::1:1080",
    ],
)
def test_a_proxy_that_is_none_is_a_wrong_setting_and_its_password_is_not_told(proxy: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.hosts: the proxy for 'a\.test'") as caught:
        make_options(_host("a.test", proxy=proxy))
    assert "sala" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X Key", "salajane"),
        ("X-Key:", "salajane"),
        ("", "salajane"),
        ("X-Key", "salajane\r\nX-Injected: 1"),
        ("X-Key", "salajane☃"),
        ("X-Key", " "),
        ("Host", "salajane"),
        ("content-length", "salajane"),
    ],
)
def test_a_header_that_can_not_be_sent_is_a_wrong_setting_and_its_value_is_not_told(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.hosts: the header") as caught:
        Fetcher[int](FetchSettings(hosts=[_host("a.test", headers={name: value})]), clock=now)
    assert "salajane" not in str(caught.value)


def test_neither_keys_nor_passwords_are_in_what_the_options_look_like() -> None:
    options = make_options(_host("*", headers={"X-Key": KEY}, proxy="http://mari:salajane@proxy:3128"))
    assert KEY not in repr(options)
    assert "salajane" not in repr(options)
    assert "mari" not in repr(options)


def test_a_key_is_sent_and_never_told(server: RawServer, visit: Visiting, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.replies["/"] = OK
    hosts = [_host("api.test", headers={"Authorization": KEY, "accept": "text/csv"})]
    answer = visit("http://api.test/", hosts=hosts).answer
    assert answer is not None
    assert f"\r\nAuthorization: {KEY}\r\n".encode() in server.requests[0]
    assert b"\r\naccept: text/csv\r\n" in server.requests[0]
    assert server.requests[0].lower().count(b"\r\naccept:") == 1
    assert ("Authorization", WITHHELD) in answer.request_headers
    assert KEY not in repr(answer.request_headers)
    assert KEY not in caplog.text


def test_a_key_is_for_its_own_host_alone(server: RawServer, settings: FetchSettings) -> None:
    server.replies["/"] = OK.replace(b"\r\n\r\n", b"\r\nKeep: yes\r\n\r\n")
    hosts = [_host("api.test", headers={"X-Key": KEY})]
    with Fetcher[str](settings.model_copy(update={"hosts": hosts}), clock=now) as fetcher:
        for host in ("api.test", "other.test", "api.test"):
            fetcher.submit(host, f"http://{host}/")
            for _, ended in fetcher.poll(5):
                assert ended.answer is not None
                ended.answer.body.close()
    assert [KEY.encode() in request for request in server.requests] == [True, False, True]


def test_a_key_does_not_go_along_with_a_redirect(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = b"HTTP/1.1 302 Found\r\nLocation: http://other.test/next\r\nContent-Length: 0\r\n\r\n"
    server.replies["/next"] = OK
    ended = visit("http://api.test/", follow=True, hosts=[_host("api.test", headers={"X-Key": KEY})])
    assert ended.answer is not None
    assert KEY.encode() in server.requests[0]
    assert KEY.encode() not in server.requests[1]
    assert "X-Key" not in dict(ended.answer.request_headers)


@pytest.mark.parametrize(
    ("kind", "scheme", "asked"),
    [
        (SocksProxy, "socks5h", "www.rehemaa.example:80"),
        (SocksProxy, "socks4a", "www.rehemaa.example:80"),
        (HttpProxy, "http", "www.rehemaa.example"),
    ],
)
def test_a_proxy_finds_the_host_by_its_name(
    server: RawServer, visit: Visiting, proxies: Proxies, kind: type[ProxyServer], scheme: str, asked: str
) -> None:
    server.replies["/a?b"] = OK
    proxy = proxies(kind)
    hosts = [_host("*.rehemaa.example", proxy=f"{scheme}://127.0.0.1:{proxy.port}")]
    ended = visit("http://www.rehemaa.example/a?b", hosts=hosts, allow_private=[])
    assert ended.answer is not None, ended.error
    assert ended.answer.body.read() == b"hi"
    assert ended.answer.address == ""  # it is the proxy that knows
    assert proxy.asked == [asked]
    assert server.requests[0].startswith(b"GET /a?b HTTP/1.1\r\nHost: www.rehemaa.example\r\n")


@pytest.mark.parametrize("scheme", ["socks5", "socks4"])
def test_an_address_that_was_looked_up_here_is_checked_before_a_proxy_gets_it(
    server: RawServer, visit: Visiting, proxies: Proxies, scheme: str
) -> None:
    server.replies["/"] = OK
    proxy = proxies(SocksProxy)
    hosts = [_host("*", proxy=f"{scheme}://127.0.0.1:{proxy.port}")]
    ended = visit("http://maja.localhost/", hosts=hosts, allow_private=["127.0.0.0/8"])
    assert ended.answer is not None, ended.error
    assert proxy.asked == ["127.0.0.1:80"]
    assert type(visit("http://maja.localhost/", hosts=hosts, allow_private=[]).error) is AddressDenied
    assert len(proxy.asked) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://[::ffff:169.254.169.254]/",
        "http://localhost/",
        "http://maja.localhost./",
        "http://rule.test/",
        "http://www.rehemaa.example:22/",
    ],
)
@pytest.mark.parametrize("scheme", ["socks5h", "http"])
def test_a_proxy_opens_no_private_address_and_no_other_port(
    visit: Visiting, proxies: Proxies, url: str, scheme: str
) -> None:
    proxy = proxies(SocksProxy)
    hosts = [_host("*", proxy=f"{scheme}://127.0.0.1:{proxy.port}")]
    ended = visit(url, hosts=hosts, allow_private=[], resolve=["rule.test=10.0.0.1:80"])
    assert type(ended.error) is AddressDenied
    assert proxy.asked == []


@pytest.mark.parametrize(("kind", "scheme"), [(SocksProxy, "socks5h"), (HttpProxy, "http")])
def test_a_proxy_is_told_its_password_and_nobody_else_is(
    server: RawServer,
    visit: Visiting,
    proxies: Proxies,
    caplog: pytest.LogCaptureFixture,
    kind: type[ProxyServer],
    scheme: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    server.replies["/"] = OK
    proxy = proxies(kind, user="mari", password="sala:jane@")
    place = f"127.0.0.1:{proxy.port}"
    ended = visit("http://a.example/", hosts=[_host("*", proxy=f"{scheme}://mari:sala%3ajane%40@{place}")])
    assert ended.answer is not None, ended.error
    assert "jane" not in repr(ended.answer.request_headers)
    for wrong in (f"{scheme}://mari:vale-sala@{place}", f"{scheme}://{place}"):
        error = visit("http://a.example/", hosts=[_host("*", proxy=wrong)]).error
        assert type(error) is ConnectFailed
        assert "the proxy in fetch.hosts" in str(error)
        assert "vale-sala" not in str(error)
        assert "mari" not in str(error)
    assert "sala" not in caplog.text


def test_a_password_is_not_kept_for_the_next_proxy(
    server: RawServer, settings: FetchSettings, proxies: Proxies
) -> None:
    server.replies["/"] = OK
    first, second = proxies(HttpProxy), proxies(HttpProxy)
    hosts = [
        _host("a.example", proxy=f"http://mari:salajane@127.0.0.1:{first.port}"),
        _host("b.example", proxy=f"http://127.0.0.1:{second.port}"),
    ]
    with Fetcher[str](settings.model_copy(update={"hosts": hosts}), clock=now) as fetcher:
        for url in ("http://a.example/", "http://b.example/", server.url("/")):
            fetcher.submit(url, url)
            for _, ended in fetcher.poll(5):
                assert ended.answer is not None, ended.error
                ended.answer.body.close()
    assert b"Proxy-Authorization" in first.heads[0]
    assert b"Proxy-Authorization" not in second.heads[0]
    assert len(first.heads) == len(second.heads) == 1
    assert b"Proxy" not in server.requests[2]


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_a_proxy_that_does_not_answer_is_told_from_a_host_that_does_not(visit: Visiting, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    error = visit("http://a.example/", hosts=[_host("*", proxy=f"{scheme}://mari:salajane@127.0.0.1:{port}")]).error
    assert type(error) is ConnectFailed
    assert "the proxy in fetch.hosts does not answer" in str(error)
    error = visit("http://a.example/", hosts=[_host("*", proxy=f"{scheme}://nowhere.invalid:{port}")]).error
    assert "the proxy in fetch.hosts has no address" in str(error)


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_a_proxy_that_speaks_nonsense_is_a_failure(server: RawServer, visit: Visiting, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def babble() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")

        thread = threading.Thread(target=babble, daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        error = visit("https://a.example/", hosts=[_host("*", proxy=f"{scheme}://127.0.0.1:{port}")]).error
        thread.join(5)
    assert type(error) in (ConnectFailed, BadAnswer, Truncated)


class TlsServer(OnceServer):
    """Shows a certificate that nobody knows and answers every connection once."""

    def __init__(self, reply: bytes) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("self.example").configure_cert(self._context)
        self._reply = reply
        self.requests: list[bytes] = []
        super().__init__()

    def answer(self, connection: socket.socket) -> None:
        with self._context.wrap_socket(connection, server_side=True) as secure:
            self.requests.append(secure.recv(65_536))
            secure.sendall(self._reply)


@pytest.fixture
def tls_server() -> Iterator[TlsServer]:
    server = TlsServer(OK)
    yield server
    server.close()


def _failed(ended: Visit, kind: type[FetchError]) -> None:
    assert type(ended.error) is kind, repr(ended.error or ended.answer)


@pytest.mark.parametrize("host", ["self.example", "other.example"])
def test_proof_is_not_asked_of_hosts_that_are_excepted(tls_server: TlsServer, visit: Visiting, host: str) -> None:
    resolve = [f"*.example=127.0.0.1:{tls_server.port}"]
    ended = visit(f"https://{host}/", resolve=resolve, hosts=[_host(host, verify_tls=False)])
    assert ended.answer is not None, ended.error
    assert ended.answer.body.read() == b"hi"
    _failed(visit(f"https://{host}/", resolve=resolve, hosts=[_host("third.example", verify_tls=False)]), TlsFailed)


def test_an_exception_does_not_stay_for_the_next_host(tls_server: TlsServer, settings: FetchSettings) -> None:
    changed = {
        "resolve": [f"*.example=127.0.0.1:{tls_server.port}"],
        "hosts": [_host("self.example", verify_tls=False)],
    }
    with Fetcher[str](settings.model_copy(update=changed), clock=now) as fetcher:
        ended: dict[str, Visit] = {}
        for host in ("self.example", "other.example"):
            fetcher.submit(host, f"https://{host}/")
            ended.update(fetcher.poll(5))
    assert ended["self.example"].answer is not None
    ended["self.example"].answer.body.close()
    _failed(ended["other.example"], TlsFailed)


@pytest.mark.parametrize(("kind", "scheme"), [(SocksProxy, "socks5h"), (HttpProxy, "http")])
def test_tls_goes_through_a_proxy_and_the_proxy_sees_no_key(
    tls_server: TlsServer, visit: Visiting, proxies: Proxies, kind: type[ProxyServer], scheme: str
) -> None:
    proxy = proxies(kind, tls_server.port)
    place = f"{scheme}://127.0.0.1:{proxy.port}"
    hosts = [_host("self.example", proxy=place, headers={"X-Key": KEY}, verify_tls=False), _host("*", proxy=place)]
    ended = visit("https://self.example/", hosts=hosts, allow_private=[])
    assert ended.answer is not None, ended.error
    assert "X-Proxy" not in dict(ended.answer.headers)
    assert ended.answer.status == 200
    assert KEY.encode() in tls_server.requests[0]
    assert proxy.asked == ["self.example:443"]
    assert all(KEY.encode() not in head for head in proxy.heads)
    _failed(visit("https://other.example/", hosts=hosts, allow_private=[]), TlsFailed)
