"""Tests of URLs in their normal form."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.sources.urls import MAX_LENGTH, decode_url, is_robots, is_visitable, normalise


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://www.example.ee/", "http://www.example.ee/"),
        ("HTTP://WWW.Example.EE", "http://www.example.ee/"),
        ("http://www.example.ee:80/a", "http://www.example.ee/a"),
        ("https://www.example.ee:443/a", "https://www.example.ee/a"),
        ("http://www.example.ee:8080/a", "http://www.example.ee:8080/a"),
        ("http://www.example.ee/a/../b/./c", "http://www.example.ee/b/c"),
        ("http://www.example.ee/a/%2e%2E/b", "http://www.example.ee/b"),
        ("http://www.example.ee/a b", "http://www.example.ee/a%20b"),
        ("http://www.example.ee/a|b", "http://www.example.ee/a|b"),
        ("http://www.example.ee\\a", "http://www.example.ee/a"),
        ("http://www.example.ee/?q='x'", "http://www.example.ee/?q=%27x%27"),
        ("http://www.example.ee/õ", "http://www.example.ee/%C3%B5"),
        ("http://õ.ee/", "http://xn--mda.ee/"),
        ("  http://www.example.ee/ \n", "http://www.example.ee/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::1]/", "http://[::1]/"),
        ("mailto:keegi@example.ee", "mailto:keegi@example.ee"),
        ("http://localhost", "http://localhost/"),
    ],
)
def test_a_url_gets_its_normal_form(url: str, normal: str) -> None:
    assert normalise(url) == normal


@pytest.mark.parametrize("fragment", ["#", "#a", "#a#b", "?x#y"])
def test_the_fragment_is_dropped(fragment: str) -> None:
    normal = normalise("http://www.example.ee/a" + fragment)
    assert normal is not None
    assert "#" not in normal


@pytest.mark.parametrize("who", ["mari:saladus", "mari", ":saladus", "mari:sala@dus", "m%40ri:x"])
def test_credentials_are_removed(who: str) -> None:
    assert normalise(f"http://{who}@www.example.ee/a?b=@") == "http://www.example.ee/a?b=@"


@pytest.mark.parametrize(
    "text", ["", " ", "-", "www.example.ee", "/a/b", "http://", "http://a b/", "http://[::", "http://1.2.3.4.5/", "\ud800", "http://a.ee/\udcff"]
)  # fmt: skip
def test_what_is_no_url_has_no_normal_form(text: str) -> None:
    assert normalise(text) is None


def test_a_url_that_is_too_long_has_no_normal_form() -> None:
    room = MAX_LENGTH - len("http://www.example.ee/")
    assert normalise("http://www.example.ee/" + "a" * room) is not None
    assert normalise("http://www.example.ee/" + "a" * (room + 1)) is None
    assert normalise("http://www.example.ee/" + "õ" * (room // 2)) is None, "it is when its letters are escaped"


_HOSTS = st.from_regex(r"[a-z0-9.-]{1,20}(?:\.[a-z0-9]{1,4})?", fullmatch=True)
_PATHS = st.text(alphabet="abcZ019_~,;=&+@!$()*:?./-%2eE'|^\\{} \"<>`[]#õ", max_size=30)


@given(scheme=st.sampled_from(["http", "https"]), host=_HOSTS, path=_PATHS)
def test_the_fast_way_agrees_with_the_standard(scheme: str, host: str, path: str) -> None:
    url = f"{scheme}://{host}/{path}"
    try:
        standard = ada_url.URL(url)
    except ValueError:
        assert normalise(url) is None
        return
    del standard.hash
    assert normalise(url) == standard.href


@given(st.one_of(st.text(), _PATHS.map("http://www.example.ee/".__add__)))
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    normal = normalise(text)
    assert normal is None or normalise(normal) == normal


def test_only_web_addresses_are_visited() -> None:
    assert is_visitable("http://www.example.ee/")
    assert is_visitable("https://www.example.ee/")
    assert not is_visitable("ftp://www.example.ee/")
    assert not is_visitable("httpx://www.example.ee/")


def test_robots_txt_is_one_only_at_the_top() -> None:
    assert is_robots("http://www.example.ee/robots.txt")
    assert not is_robots("http://www.example.ee/docs/robots.txt")
    assert not is_robots("http://www.example.ee/?/robots.txt")
    assert not is_robots("http://www.example.ee/myrobots.txt")


def test_bytes_that_are_not_utf8_go_back_to_the_server_as_they_were() -> None:
    assert normalise(decode_url(b"http://www.example.ee/\xf5\xe4")) == "http://www.example.ee/%F5%E4"
    assert normalise(decode_url("http://www.example.ee/õ".encode())) == "http://www.example.ee/%C3%B5"
