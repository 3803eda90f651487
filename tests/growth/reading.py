"""Doors behind which documents are read, understood and compared, with shapes of what comes in."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from functools import partial

from rehi.compare import compare_names
from rehi.enrich import understand
from rehi.enrich.names import find_names
from rehi.extract import extract
from rehi.fetch.soft_404 import fingerprint
from rehi.link import link
from rehi.model.version import Digest, RecordRef, Version
from rehi.operations.diff.body import ParsedBody
from rehi.operations.diff.methods import compare_bodies
from rehi.operations.diff.names import _checked
from rehi.serve.harmless_markup import HarmlessMarkup
from tests.extract.test_growth import PLAIN, UNITS
from tests.growth.shapes import BETWEEN, pair, repeat, repeat_each
from tests.growth.watch import GrowthDoor

MOST_TEXT = 10_000_000
_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_NOWHERE = RecordRef("a.warc.gz", 0, 1)

HTML = (
    *(repeat(unit, before="<html><body>") for unit in UNITS),
    repeat("<div></b>"), repeat("<div></x></x>"), repeat("<i>", "</b>"), repeat("<b>", "</b>"), repeat("<div>", "</div>"),
    repeat("<p><b id={n}>"), repeat("<a{n}>", "</a{n}>"), repeat("<p>Jaan{n} Tamm</p>"), repeat("<td><div></td>", before="<table><tr>"),
    repeat("<div><table></div>"), repeat("<div><svg></div>"), repeat(" a{n}=b", before="<p"), repeat("<title>", "</title>"),
    repeat("<a href=/{n}>a</a>"), repeat("<meta name=a{n} content=b>"), repeat("<!--", before="<p>"), repeat("<![CDATA["), repeat("<a b='"),
)  # fmt: skip
XML = (
    repeat("<a>b</a>", before="<r>", after="</r>"), repeat("<a>", "</a>"), repeat("<a b='c'/>", before="<r>", after="</r>"),
    repeat(" a{n}='b'", before="<r", after="/>"), repeat(" a{n}='b'", before="<r><c", after="/>d</r>"),
    repeat(" xmlns:a{n}='b{n}'", before="<r", after="/>"), repeat("<a xmlns='b{n}'/>", before="<r>", after="</r>"),
    repeat(" xmlns:a{n}='b{n}'", "<a{n}:b/>", before="<r", after="</r>"), repeat("&a;", before="<!DOCTYPE r [<!ENTITY a 'b'>]><r>", after="</r>"),
    repeat("<item><title>a{n}</title><link>http://a.ee/{n}</link></item>", before="<rss><channel>", after="</channel></rss>"),
    repeat("<url><loc>http://a.ee/{n}</loc></url>", before="<urlset>", after="</urlset>"), repeat("a<b/>", before="<r>", after="</r>"),
    repeat("<a>&lt;b&gt;c&lt;/b&gt;</a>", before="<r>", after="</r>"), repeat("<!-- a -->", before="<r>", after="</r>"), repeat("<a{n}>b"),
    repeat("<![CDATA[a]]>", before="<r>", after="</r>"), repeat("<a>b</a>c", before="<r>", after="</r>"),
)  # fmt: skip
JSON = (
    repeat('{"id":{n},"a":"b"},', before="[", after="{}]"), repeat('"a{n}":{n},', before="{", after='"b":1}'), repeat("[", "]"),
    repeat('{"a":', "}"), repeat('{"a":{n}}\n'), repeat('"a",', before="[", after='"b"]'), repeat('"<b>a</b>",', before="[", after="1]"),
    repeat("1,", before="[", after="NaN]"), repeat("9", before="[", after="]"), repeat("a", before='"', after='"'),
    repeat("\\u0061", before='["', after='"]'), repeat("\ud800,".encode("utf-8", "surrogatepass"), before='["', after='"]'),
)  # fmt: skip
TABLES = (
    repeat("a{n},b,{n}\n", before="x,y,z\n"), repeat("a,", after="\n"), repeat("a{n},", "1,", after="\n"), repeat('"a\n'), repeat('"a"",'),
    repeat("a\t{n}\n"), repeat("a;b;c\n"), repeat("a|{n}\n"), repeat('"a","b"\n'), repeat("a,b\n", "c\n"), repeat(",", "\n"),
)  # fmt: skip
TEXTS = (
    *repeat_each(*PLAIN),
    repeat("Jaan{n} Tamm ütles. "), repeat("a-\n"), repeat("a "), repeat("Ã¤Ãµ"), repeat("\u0301"), repeat("a\u0301\u0323"), repeat("\r"), repeat("õ\n"),
    repeat(b"\xe4"), repeat(b"\xd0\xd1 "), repeat(b"\x1b$B"), repeat("\u200b"), repeat(b"a\x00"), repeat(b"\xff\xfea\x00"), repeat("=?utf-8?q?a?="),
    repeat("Å Ä«"), repeat("&auml;"), repeat("a\x0c"), repeat("- a{n}\n"), repeat("http://a.ee/{n} "), repeat(". "), repeat("1.2."), repeat("a@"),
)  # fmt: skip
NAMES = (
    repeat("Jaan{n} Tamm. "), repeat("Jaan Tamm "), repeat("J. "), repeat("Jaan-"), repeat("Tallinnas elab Mari{n} Kask.\n\n"), repeat("OÜ "),
    repeat("AS Jaan{n} "), repeat("AS \u201e"), repeat("Jaan ja "), repeat("Jaan{n} "), repeat("John{n} Smith of London said. "), repeat("Mr. "),
    repeat("a"), repeat("A"), repeat("a."), repeat("A.B"), repeat("1.1"), repeat("a-"), repeat("'s"), repeat("Inc. "), repeat("(Jaan) "),
    repeat("Eesti Vabariigi "), repeat("x{n} "), repeat("Jaan Tamm{n}. Tamm{n}. "), repeat("ja Jaan Tamm{n}\n", "ja Tamm{n}is\n"),
)  # fmt: skip


def doors() -> list[GrowthDoor]:
    """Return all of these."""
    both = [pair(one, one) for one in (*XML[:12], *JSON, *TABLES, *TEXTS)]
    changed = [
        pair(repeat("a{n},b,{n}\n"), repeat("a{n},c,{n}\n", after="x")), pair(repeat("a\nb\n"), repeat("b\na\n", "c\n")),
        pair(repeat('{"id":{n}},', before="[", after="0]"), repeat('{"id":1{n}},', before="[", after="0]")),
        pair(repeat("[", "]"), repeat("[", "1]")), pair(repeat("a {n} "), repeat("{n} a ")),
        pair(repeat("a{n},", after="\n1,2"), repeat("b{n},", after="\n1,2")), pair(repeat("a b{n}\n"), repeat("b{n} a\n")),
        pair(repeat(" a{n}='b'", before="<r", after="/>"), repeat(" a{n}='c'", before="<r", after="/>")),
        pair(repeat("<a>", "</a>"), repeat("<a>", "b</a>")), pair(repeat("<a b='{n}'>c</a>", before="<r>", after="</r>"), repeat("<a b='1{n}'>c</a>", before="<r>", after="</r>")),
    ]  # fmt: skip
    named = [pair(one, other) for one in NAMES[:3] for other in NAMES[9:12]] + [
        pair(repeat("Jaan{n} Tamm. "), repeat("Mari{n} Kask. "))
    ]
    kinds = {"html": ("text/html", HTML), "xml": ("application/xml", XML), "feeds": ("application/rss+xml", XML), "json": ("application/json", JSON),
             "tables": ("text/csv", TABLES), "texts": ("text/plain", TEXTS)}  # fmt: skip
    types = {
        "compared texts": "text/plain",
        "compared tables": "text/csv",
        "compared json": "application/json",
        "compared xml": "application/xml",
    }
    return [
        *(GrowthDoor(name, partial(_read, kind), shapes, 400_000) for name, (kind, shapes) in kinds.items()),
        GrowthDoor(
            "untold", partial(_read, ""), (*HTML[::7], *XML[::5], *JSON[::4], *TABLES[::4], *TEXTS[::4]), 400_000
        ),
        GrowthDoor("understood", _understand, (*TEXTS[::3], *NAMES), 50_000, dear=60.0),
        GrowthDoor("names et", partial(_name, "et"), NAMES, 60_000, dear=60.0),
        GrowthDoor("names en", partial(_name, "en"), NAMES, 60_000, dear=60.0),
        *(GrowthDoor(name, partial(_compare, kind), (*both, *changed), 400_000) for name, kind in types.items()),
        GrowthDoor(
            "compared pages", partial(_compare, "text/html"), tuple(pair(one, one) for one in HTML[::4]), 400_000
        ),
        GrowthDoor("compared names", _compare_names, tuple(named), 60_000, dear=120.0),
        GrowthDoor("soft 404", _print, HTML, 250_000),
        GrowthDoor("replayed", _replay, (*HTML, *XML), 1_000_000),
    ]


def _read(media_type: str, raw: bytes) -> object:
    return extract(io.BytesIO(raw), url="http://a.test/fail", media_type=media_type, size=len(raw), max_text=MOST_TEXT)


def _understand(raw: bytes) -> object:
    return understand(
        extract(io.BytesIO(raw), url="http://a.test/", media_type="text/plain", size=len(raw), max_text=MOST_TEXT)
    )


def _name(code: str, raw: bytes) -> object:
    return link(find_names(raw.decode("utf-8", "replace"), code))


def _bodies(media_type: str, raw: bytes) -> list[ParsedBody]:
    old, _, new = raw.partition(BETWEEN)
    digest = Digest("sha256:" + "0" * 64)
    return [
        ParsedBody(side, url="http://a.test/", max_text=MOST_TEXT, version=Version(
            id=1, resource_id=1, number=1, taken_at=_NOW, digest=digest, size=len(side), media_type=media_type, status=200,
            record=_NOWHERE, body=_NOWHERE))
        for side in (old, new)
    ]  # fmt: skip


def _compare(media_type: str, raw: bytes) -> object:
    old, new = _bodies(media_type, raw)
    return compare_bodies(old, new, key=(), tables_only=False, most=1_000)


def _compare_names(raw: bytes) -> object:
    old, _, new = raw.decode("utf-8", "replace").partition(BETWEEN.decode())
    return _checked(compare_names(link(find_names(old, "et")), link(find_names(new, "et"))), old, new)


def _print(raw: bytes) -> object:
    return fingerprint(io.BytesIO(raw), media_type="text/html", url="http://a.test/a/b-c/d.html?a=b&c=d")


def _replay(raw: bytes) -> int:
    return sum(map(len, iter(partial(HarmlessMarkup(io.BytesIO(raw), "text/html").read, 65_536), b"")))
