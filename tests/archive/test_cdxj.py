"""Lines of an index: keys as the field's tools make them, and order without memory."""

from __future__ import annotations

import json
import random
import subprocess
import tracemalloc
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from rehi.archive.cdxj import SortedLines, cdxj_line
from rehi.archive.surt import MAX_LENGTH, surt
from rehi.testing.waiting import PATIENCE
from tests.archive.pywb import find_pywb

KEYS = {
    "http://www.example.ee/": "ee,example)/",
    "https://www2.Example.EE:443/A/B/?b=2&A=1&b": "ee,example)/a/b?a=1&b&b=2",
    "http://example.ee:8080": "ee,example:8080)/",
    "http://example.ee/a/./b//../c/": "ee,example)/a/b/c",
    "http://example.ee/a%20b%2Fc?q=%C3%B5": "ee,example)/a%20b/c?q=%c3%b5",
    "http://example.ee/x?": "ee,example)/x",
    "http://example.ee/x?sid=0123456789abcdef0123456789abcdef&y=1": "ee,example)/x?y=1",
    "http://127.0.0.1/": "1,0,0,127)/",
    "http://[::1]:8080/": "::1:8080)/",
    "http://kasutaja:parool@example.ee/": "ee,example)/",
    "http://õ.ee/": "ee,xn--mda)/",
    "urn:rehi:delta": "urn:rehi:delta",
    "dns:example.ee": "dns:example.ee",
    "": "-",
}


@pytest.mark.parametrize(("url", "key"), KEYS.items(), ids=range(len(KEYS)))
def test_a_key_is_the_url_from_the_back(url: str, key: str) -> None:
    assert surt(url) == key


def test_keys_are_those_of_pywb() -> None:
    find_pywb("wayback")
    urls = [*KEYS, *_urls(random.Random(5), 3_000)]
    program = "import json, sys, surt; print(json.dumps([surt.surt(url) for url in json.load(sys.stdin)]))"
    python = Path(find_pywb("wayback")).with_name("python")
    answer = subprocess.run(
        [python, "-W", "ignore", "-c", program], input=json.dumps(urls), capture_output=True, text=True, timeout=PATIENCE,
        check=True,
    )  # fmt: skip
    theirs = json.loads(answer.stdout)
    assert {url: surt(url) for url in urls} == dict(zip(urls, theirs, strict=True))


def _urls(chance: random.Random, number: int) -> list[str]:
    hosts = ["www.a.ee", "WWW3.b.com", "x.y.z.ee", "1.2.3.4", "xn--a.ee", "õun.ee", "a.ee:80", "a.ee:8080", "[::1]"]
    pieces = [
        "/", "//", "/./", "/../", "/a/", "/B", "?", "&", "=", "a=1", "B=2", "b", "%20", "%25", "%2525", " ", "%41",
        "%c3%b5", "õ", "#f", "jsessionid=" + "a" * 32, "sid=" + "0" * 32, "PHPSESSID=" + "b" * 32, "&x", "%",
        "cfid=1&cftoken=2", "/(S(" + "a" * 24 + "))/x.aspx", ";", "+", "'", '"', "<", "\\", "|", "~", "%zz", "%2",
        "index.html", "\t", ".", "?a=", "?a&a=&A=1", "@", ":", "ASPSESSIONIDABCDEFGH=" + "c" * 24,
    ]  # fmt: skip
    return [
        chance.choice(["http://", "https://"])
        + chance.choice(hosts)
        + "/"
        + "".join(chance.choices(pieces, k=chance.randint(0, 6)))
        for _ in range(number)
    ]


@pytest.mark.parametrize("url", ["http://[", "http://a:b:c/", "//", "x y\nz", "\udcff", "http://a/" + "%25" * 9_000], ids=range(6))  # fmt: skip
def test_whatever_a_url_is_its_key_is_one_word(url: str) -> None:
    key = surt(url)
    assert key
    assert len(key.split()) == 1
    assert len(url) < MAX_LENGTH or len(key) < 4 * len(url)


def test_a_line_has_what_a_reader_needs() -> None:
    at = datetime(2026, 3, 1, 1, 30, 5, 999_999, tzinfo=timezone(timedelta(hours=2)))
    line = cdxj_line(
        url='http://www.example.ee/"õ"', at=at, mime="text/html; charset=x", status=200, digest="sha256:ab", length=7,
        offset=12, filename="a.warc.gz",
    )  # fmt: skip
    key, moment, values = line.split(" ", 2)
    assert (key, moment) == ('ee,example)/"%c3%b5"', "20260228233005")
    assert values.isascii()
    assert json.loads(values) == {
        "url": 'http://www.example.ee/"õ"', "mime": "text/html", "status": "200", "digest": "sha256:ab", "length": "7",
        "offset": "12", "filename": "a.warc.gz",
    }  # fmt: skip
    old = cdxj_line(
        url="u", at=datetime(33, 1, 1, tzinfo=UTC), mime="", status=0, digest="", length=0, offset=0, filename=""
    )
    assert old.split(" ")[1] == "00330101000000"


@pytest.mark.parametrize("memory", [1, 5_000, 1 << 20])
def test_lines_come_back_in_order_whatever_fits_into_memory(tmp_path: Path, memory: int) -> None:
    chance = random.Random(7)
    lines = [f"{chance.randrange(500):04} õ{number}" for number in range(400)]
    with SortedLines(tmp_path, memory=memory) as held:
        for line in lines:
            held.add(line)
        assert list(held) == sorted(lines)
        assert list(held) == sorted(lines)
        with pytest.raises(ValueError, match="end of a line"):
            held.add("a\nb")
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_lines(tmp_path: Path) -> None:
    with SortedLines(tmp_path, memory=200_000) as held:
        tracemalloc.start()
        for number in range(20_000):
            held.add(f"{number * 7_919 % 20_000:06} {'x' * 200}")
        last, count = "", 0
        for line in held:
            assert last <= line
            last, count = line, count + 1
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert count == 20_000
    assert peak < 2_500_000
