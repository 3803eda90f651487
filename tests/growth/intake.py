"""Doors for what is not a document: heads, addresses, lists, crawls, rules, queries, manifests and names of files."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from starlette.requests import Request

from rehi.archive.delta import decode as decode_delta
from rehi.archive.delta import encode as encode_delta
from rehi.archive.http_head import read_http_head
from rehi.archive.record import unpack_record
from rehi.archive.surt import surt
from rehi.backup.manifest import decode, decode_files
from rehi.fetch import PRODUCT, RobotRules, read_robots
from rehi.fetch.checksum import Checksums
from rehi.fetch.coding import decoders_for
from rehi.fetch.incoming import Head
from rehi.fetch.retry_after import retry_after
from rehi.fetch.target import parse_target, redirect_target
from rehi.graph.identifiers import document_iri
from rehi.graph.query import prepare_query
from rehi.link.name import slug
from rehi.model.accept import parse_accept, weigh
from rehi.model.http import parse_http_date
from rehi.model.media import by_format, by_name
from rehi.model.moment import parse_moment
from rehi.model.retention import parse_rule
from rehi.model.visit import Visit
from rehi.operations.cdx import _after, _collapse, _fields, _sieve
from rehi.operations.file_names import name_in_folders, name_of_file
from rehi.operations.patterns import Pattern
from rehi.serve.ranges import _is_known, _part
from rehi.serve.request_parameters import parse_fields
from rehi.serve.webpath import parse_web
from rehi.sources.links import choose_links, parse_follow
from rehi.sources.urls import host_meant, normalise
from tests.doors.inward_doors import read_crawl, read_source
from tests.fetch.conftest import made_up
from tests.growth.shapes import BETWEEN, pair, repeat, repeat_each
from tests.growth.watch import GrowthDoor
from tests.warcs import record, response

NOW = datetime(2026, 3, 1, tzinfo=UTC)
URLS = tuple(
    repeat(unit, before=before)
    for before in ("http://a.ee/", "http://", "http://a.ee/?", "")
    for unit in ("a", "/", "../", "%25", "%2e", "a.", "a&", "&sid=", "cfid=a&cftoken=b&", "(a(", "õ", "xn--a.", "1.", "@", ":", "#", "[", "a=b&a=c&", "\\")
)  # fmt: skip
LINES = (*(repeat(f"{before}{unit}\n") for before in ("http://a.ee/", "") for unit in ("{n}", "a " * 200, "%25" * 500, "a.b." * 100, "\t|,;" * 100)),
    repeat("a", after="\n"), repeat("\n"), repeat("2026-03-01T00:00:00.000Z 200 5 http://a.ee/{n} L http://a.ee/ text/html #1 20260301000000+1 sha1:A - -\n"),
    repeat("20260301000000000 200 5 http://a.ee/{n} LLLLLLLLLLLLLLLLP http://a.ee/ text/html\n"), repeat("2026 ", after="\n"), repeat("a b\n"),
    repeat("<!-- a -->"), repeat("<?a?>"), repeat("<!DOCTYPE a []>"), repeat("<!DOCTYPE ["), repeat("dns:a{n}\n"), repeat("filedesc: "), repeat("a b c 1 "),
)  # fmt: skip
HEADS = (
    *(repeat(unit, before="HTTP/1.1 200 OK\r\n", after="\r\n\r\n") for unit in ("a: b\r\n", " a\r\n", "a:\r\n \r\n", "a{n}: b\r\n", "a", "\r", ":", "Content-Length: 1\r\n", "a: b\n", "\x00", "\t\r\n")),
    repeat(" a\r\n", before="HTTP/1.1 200 OK\r\na: b\r\n", after="\r\n"), repeat("\n"), repeat("HTTP/1.1 "),
)  # fmt: skip
ROBOTS = (
    repeat("User-agent: *\nDisallow: /{n}\n"), repeat("Disallow: /a*{n}*b$\n", before="User-agent: *\n"), repeat("User-agent: rehi\n"),
    repeat("*a", before="User-agent: *\nDisallow: /"), repeat("User-agent: a{n}\n", "Disallow: /\n"), repeat("Crawl-delay: {n}\n", before="User-agent: *\n"),
    repeat("Sitemap: http://a.ee/{n}\n"), repeat(b"Disallow: /\xe4\n", before="User-agent: *\n"), repeat("\r"), repeat("#a\n"), repeat("Allow: /index.htm{n}\n", before="User-agent: *\n"),
    repeat("Disallow: /%7e{n}\n", before="User-agent: *\n"), repeat("User-agent: rehi\nDisallow: /{n}\nUser-agent: *\n"),
)  # fmt: skip
VALUES = repeat_each("a", "a,", "a;q=1,", "text/html;q=.5,", '"', "'", "=", ";", "md5=a,", "sha-256=:a:,", "0", "1,", "-", "\\", '\\"', "(", " ", "charset=", "Mon, ", "bytes=0-", '"a",', "a=", "/", "+")  # fmt: skip
QUERIES = (
    repeat("?a ", before="SELECT * WHERE {"), repeat("'"), repeat('"'), repeat("<"), repeat("<a>"), repeat("a:b "), repeat("#\n"), repeat("PREFIX a{n}: <b>\n"), repeat("("),
    repeat("\\"), repeat("foaf:a "), repeat("x{n}:y "), repeat("1SERVICE"), repeat('"""'), repeat("'''a"), repeat("@a-"), repeat("_:a."), repeat("\n"), repeat("a.b-"),
)  # fmt: skip
MANIFESTS = (repeat('{"format":', "}"), repeat('"a{n}":1,', before='{"format":1,', after='"sha256":""}'), repeat("[", "]"), repeat("9", before='{"format":', after="}"), repeat('{"path":"a{n}","part":"archive","size":1,"chunks":[]}\n'), repeat("../", before='{"path":"', after='"}'), repeat('"' + "ab" * 32 + '",', before='{"part":"archive","path":"a","size":1,"chunks":[', after='""]}\n'))  # fmt: skip
CRAWLS = (
    repeat(response("http://a.ee/{n}")), repeat("WARC/1.0\r\n"), repeat("a: b\r\n", before="WARC/1.0\r\n"), repeat(" a\r\n", before="WARC/1.0\r\na: b\r\n"), repeat("\r\n"), repeat("\n", before="WARC/1.0\r\nContent-Length: 0\r\n\r\n"),
    repeat(gzip.compress(response("http://a.ee/"), mtime=0)), repeat(gzip.compress(b"", mtime=0)), repeat(b"\x1f\x8b\x08"), repeat("http://a.ee/ 1.1.1.1 20150601100000 text/html 0\n\n", before="filedesc://a 0.0.0.0 20150601100000 text/plain 0\n"),
    repeat("http://a.ee/ 1.1.1.1 20150601100000 text/html 9\n", before="filedesc://a 0.0.0.0 20150601100000 text/plain 10\n1 0 a\na b c\n\n"), repeat(b"\x28\xb5\x2f\xfd"), repeat("WARC/1.0\r\nContent-Length: 9\r\n\r\n"),
    repeat("1;a\r\na\r\n", before=record("response", "http://a.ee/", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"5\r\n" * 9)), repeat("a", before="WARC/1.0\r\n"), repeat(b"\0"),
)  # fmt: skip
RULES = repeat_each("a,", "host *.a.ee,", "same host,path *", "path /*a*,anywhere,", "last 1 and ", "one per day and ", "depth 1,", "*", " ", "statuscode:2", "(a*)*", "(a|", "url:.*", "!", "a{1,9}", "[a-z]", "20260301", "2026-", "http://a.ee/")  # fmt: skip


def doors(folder: Path) -> list[GrowthDoor]:
    """Return all of these."""
    lists = [repeat(unit) for unit in ("http://a.ee/{n}\n", "www.a.ee/{n}\n", "a;http://a.ee/{n}\n")]
    deltas = [
        pair(repeat(old), repeat(new))
        for old in ("a", "a{n}", "abcdefgh{n}\n")
        for new in ("a", "{n}a", "abcdefgh{n}", "\n")
    ]
    return [
        GrowthDoor("heads", _head, HEADS, 400_000),
        GrowthDoor("kept heads", lambda raw: read_http_head(io.BytesIO(raw), len(raw)), HEADS, 1_000_000),
        GrowthDoor("records", lambda raw: unpack_record(gzip.compress(raw, 1)), (*CRAWLS, *HEADS), 400_000),
        GrowthDoor("header values", _value, VALUES, 60_000),
        GrowthDoor("urls", partial(_each, _url), (*URLS, *LINES), 64_000, dear=40.0),
        GrowthDoor("crawls", partial(_filed, folder / "a.warc", read_crawl, None), CRAWLS, 1_000_000),
        GrowthDoor("packed crawls", partial(_filed, folder / "a.warc.gz", read_crawl, gzip.compress), CRAWLS, 1_000_000),
        GrowthDoor("lists", partial(_filed, folder / "a.txt", read_source, None), (*lists, *LINES, *URLS), 1_000_000),
        GrowthDoor("robots", _robots, ROBOTS, 500_000),
        GrowthDoor("queries", _query, QUERIES, 100_000),
        GrowthDoor("manifests", _manifest, MANIFESTS, 400_000),
        GrowthDoor("rules", partial(_each, _rule), RULES, 20_000),
        GrowthDoor("forms", _form, repeat_each("a=b&", "&", "=", "%25", "a{n}=b&", "+", "%"), 65_000),
        GrowthDoor("codings", _coding, repeat_each("a", "a{n}", b"\x1f\x8b\x08\0", b"\0"), 1_000_000),
        GrowthDoor("deltas", _delta, tuple(deltas), 1_000_000),
    ]  # fmt: skip


def _head(raw: bytes) -> object:
    head = Head()
    for line in raw.splitlines(keepends=True):
        if head.add(line):
            break
    return head.headers


def _value(raw: bytes) -> None:
    text = raw.decode("latin-1")
    answer = replace(
        made_up(b"", media_type=text), headers=(("Retry-After", text), ("Content-Type", text), ("Location", text))
    )
    request = Request({"type": "http", "headers": [(name, raw) for name in (b"range", b"if-none-match", b"if-range")]})
    weigh("text/html", parse_accept(text))
    for read in (
        lambda: retry_after(answer, now=NOW), lambda: parse_http_date(text), lambda: redirect_target("http://a.ee/", answer), lambda: by_name(text),
        lambda: decoders_for(text), lambda: Checksums((("Digest", text), ("Content-MD5", text), ("Repr-Digest", text)), coded=True),
        lambda: by_format(text), lambda: _part(request, 100, "a"), lambda: _is_known(request, "a"),
    ):  # fmt: skip
        with suppress(ValueError, Exception):
            read()


def _each(read: Callable[[str], None], raw: bytes) -> None:
    for line in raw.decode("utf-8", "replace").split("\n"):
        read(line)


def _url(text: str) -> None:
    for read in (
        normalise,
        surt,
        slug,
        host_meant,
        parse_target,
        document_iri,
        partial(name_in_folders, media_type=""),
        partial(name_of_file, media_type=""),
        _web,
    ):
        with suppress(Exception):
            read(text)
    choose_links(parse_follow("anywhere, path /*a*b*c, not path *%*"), "http://a.ee/", [text], depth=0)


def _web(text: str) -> object:
    return parse_web({"path": "/web/" + text, "raw_path": b"/web/" + text.encode(), "query_string": b""})


def _rule(text: str) -> None:
    for read in (
        parse_follow,
        parse_rule,
        _fields,
        _sieve,
        _collapse,
        _after,
        Pattern,
        lambda given: parse_moment(given, end=True),
    ):
        with suppress(Exception):
            read(text[:10_000])


def _filed(path: Path, read: Callable[[Path], str], packed: Callable[[bytes], bytes] | None, raw: bytes) -> str:
    path.write_bytes(packed(raw) if packed else raw)
    return read(path)


def _robots(raw: bytes) -> list[bool]:
    visit = Visit(
        url="http://a.test/robots.txt", started_at=NOW, seconds=0.1, answer=made_up(raw, media_type="text/plain")
    )
    rules = RobotRules(read_robots(visit, NOW), PRODUCT)
    return [
        rules.allows(url)
        for url in ("http://a.test/", "http://a.test/ab?c=" + "ab" * 500, "http://a.test/" + "a%7e" * 3_000)
    ]


def _query(raw: bytes) -> object:
    return prepare_query(raw.decode("utf-8", "replace"))


def _manifest(raw: bytes) -> None:
    for read in (lambda: decode(raw, where="here"), lambda: sum(1 for _ in decode_files([raw]))):
        with suppress(Exception):
            read()


def _form(raw: bytes) -> object:
    with suppress(Exception):
        return parse_fields(raw)
    return None


def _coding(raw: bytes) -> int:
    passed = 0
    for decoder in decoders_for("gzip"):
        with suppress(Exception):
            for coded in (gzip.compress(raw), raw):
                passed += sum(map(len, decoder.feed(coded)))
    return passed


def _delta(raw: bytes) -> bytes:
    base, _, content = raw.partition(BETWEEN)
    return decode_delta(encode_delta(content, base=base), base=base)
