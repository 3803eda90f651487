"""A replayed page makes no browser reach out: elements that would are renamed, whatever the charset, and nothing else is."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any, BinaryIO, cast

import pytest
from playwright.sync_api import Browser

from rehi.serve.harmless_markup import CHUNK, LONGEST_TAG, HarmlessMarkup, is_document_type
from rehi.testing.waiting import PATIENCE, wait_until
from tests.keeper import Keeper, at
from tests.serve.conftest import Ask
from tests.serve.kept_web import KeptWeb

STAMP = "20260301120000"


def shown(page: bytes, media_type: str = "text/html") -> bytes:
    changed = HarmlessMarkup(cast(BinaryIO, io.BytesIO(page)), media_type)
    return b"".join(iter(lambda: changed.read(1000), b""))


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<iframe src="http://a.test/">', '<xframe src="http://a.test/">'),
        ("<IFRAME\nSRC=//a.test>", "<xFRAME\nSRC=//a.test>"),
        ("<iframe/src=http:a.test>", "<xframe/src=http:a.test>"),
        ("<iframe src='/\\a.test'>", "<xframe src='/\\a.test'>"),
        ('<iframe src="&#104;ttp://a.test">', '<xframe src="&#104;ttp://a.test">'),
        ('<iframe src="ht\ttp://a.test">', '<xframe src="ht\ttp://a.test">'),
        ('<iframe srcdoc="&lt;iframe src=//a.test>">', '<xframe srcdoc="&lt;iframe src=//a.test>">'),
        ('<iframe title=" src=kept.html " src="//a.test">', '<xframe title=" src=kept.html " src="//a.test">'),
        ("<iframe src='//a.test' src='kept.html'>", "<xframe src='//a.test' src='kept.html'>"),
        ('<iframe src="kept"\' src=//a.test>', '<xframe src="kept"\' src=//a.test>'),
        ('<frame src="http://a.test/">', '<xrame src="http://a.test/">'),
        ("<object data=//a.test></object>", "<xbject data=//a.test></xbject>"),
        ("<embed src=//a.test><portal src=//a.test>", "<xmbed src=//a.test><xortal src=//a.test>"),
        ("<base href=//a.test><applet >", "<xase href=//a.test><xpplet >"),
        ("<template><noscript><iframe src=//a.test>", "<template><noscript><xframe src=//a.test>"),
        ("<svg><foreignObject><iframe src=//a.test>", "<svg><foreignObject><xframe src=//a.test>"),
        ("<link rel=preconnect href=//a.test>", "<xink rel=preconnect href=//a.test>"),
        ("<link rel='dns-&#112;refetch' href=//a.test>", "<xink rel='dns-&#112;refetch' href=//a.test>"),
        ("<link rel='stylesheet preconnect' href=//a.test>", "<xink rel='stylesheet preconnect' href=//a.test>"),
        ("<link title='rel=stylesheet' rel=prefetch>", "<xink title='rel=stylesheet' rel=prefetch>"),
        ("<meta content='0; url=//a.test' http-equiv=refresh>", "<xeta content='0; url=//a.test' http-equiv=refresh>"),
        ("<meta http-equiv='&#114;efresh' content=0>", "<xeta http-equiv='&#114;efresh' content=0>"),
    ],
)
def test_what_would_reach_out_means_nothing_any_more(page: str, expected: str) -> None:
    assert shown(page.encode()).decode() == expected


@pytest.mark.parametrize(
    "page",
    [
        '<link rel="stylesheet" href="style.css"><LINK HREF=a.css REL=StyleSheet>',
        "<meta charset=utf-8><meta http-equiv='Content-Type' content='text/html'><meta name=description content=x>",
        '<iframe src="kept.html"></iframe><frameset><frame src="a/b.html?c=1"></frameset><iframe></iframe>',
        "<p>frames, objects and links: 3 < 4 iframe <basefont> <linker> <framework></p>",
        "<a href='http://a.test/'>away</a><img src=http://a.test/pilt.png>",
    ],
)
def test_all_else_stays_as_it_is(page: str) -> None:
    assert shown(page.encode()).decode() == page


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("utf-8", "õäöü"),
        ("utf-16", "õäöü"),
        ("utf-16-le", "õäöü"),
        ("utf-16-be", "õäöü"),
        ("iso-8859-15", "šž€"),
        ("shift_jis", "日本"),
        ("gb18030", "中国"),
    ],
)
def test_the_charset_does_not_matter(charset: str, text: str) -> None:
    page = f"<p>{text}</p><iframe src='http://a.test/'></iframe>"
    assert shown(page.encode(charset)).decode(charset) == page.replace("<iframe", "<xframe")


def test_letters_may_be_parted_by_what_a_decoder_swallows() -> None:
    assert shown(b"<if\x1b(Brame src=//a.test>") == b"<xf\x1b(Brame src=//a.test>"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b"<h:iframe src='kept'></h:iframe>", b"<h:xframe src='kept'></h:xframe>"),
        (b"<iframe src='kept'/>", b"<xframe src='kept'/>"),
        (b"<!DOCTYPE x [<!ENTITY e '&#60;iframe />'>]>", b"<!DOCTYPE x [<!xNTITY e '&#60;iframe />'>]>"),
        (b"<!ATTLIST iframe src CDATA '//a'>", b"<!xTTLIST iframe src CDATA '//a'>"),
        (b"<?xml-stylesheet href='#a' type='text/xsl'?>", b"<?yml-stylesheet href='#a' type='text/xsl'?>"),
    ],
)
def test_xml_can_declare_nothing_for_itself(page: bytes, expected: bytes) -> None:
    assert shown(page, "application/xhtml+xml") == expected


def test_a_tag_is_seen_wherever_the_stream_is_cut() -> None:
    tags = b'<iframe src="http://a.test/"></iframe>'
    for before in (*range(CHUNK - LONGEST_TAG - 30, CHUNK - LONGEST_TAG + 5), *range(CHUNK - 40, CHUNK + 5)):
        assert shown(b"." * before + tags) == b"." * before + tags.replace(b"<iframe", b"<xframe")
    kept = b'<iframe src="kept.html">'
    assert shown(b"." * (CHUNK - 10) + kept) == b"." * (CHUNK - 10) + kept


def test_any_bytes_keep_their_length_and_no_bad_name_is_left() -> None:
    random, words = (
        Random(5),
        (b"<", b"iframe", b" src=", b'"', b"'", b">", b"//a.test", b"link", b"rel=", b"\0", b"x" * 4_000),
    )
    for _ in range(200):
        page = b"".join(random.choices(words, k=60))
        changed = shown(page)
        assert len(changed) == len(page)
        assert b"<embed " not in changed


def test_types_that_a_browser_takes_for_documents_are_known() -> None:
    documents = ("text/html", "TEXT/HTML; charset=x", "application/xhtml+xml", "image/svg+xml", "text/xml", "nonsense",
                 "multipart/x-mixed-replace; boundary=b", "application/rss+xml", "text/html/x")  # fmt: skip
    others = ("", "text/plain", "image/png", "application/pdf", "text/css; charset=utf-8", "application/octet-stream")
    assert all(map(is_document_type, documents))
    assert not any(map(is_document_type, others))


class Listener:
    """A server that counts who connects, even to say nothing."""

    def __init__(self) -> None:
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(PATIENCE)


def reaching(host: str) -> bytes:
    """A page that tries everything to have a browser connect to a host."""
    return f"""<!doctype html><title>archived</title><meta charset=utf-8>
<base href="http://{host}/base/"><meta http-equiv="refresh" content="1; url=http://{host}/refresh">
<link rel="preconnect" href="http://{host}/"><link rel="dns-prefetch" href="//{host}/">
<link rel="prefetch" href="http://{host}/prefetch"><link rel="preload" as="image" href="http://{host}/preload">
<link rel="stylesheet" href="http://{host}/style.css"><link rel="icon" href="http://{host}/icon">
<script type="speculationrules">{{"prefetch": [{{"urls": ["http://{host}/speculated"]}}]}}</script>
<iframe src="http://{host}/frame"></iframe><iframe srcdoc="<iframe src='http://{host}/inner'></iframe>"></iframe>
<noscript><iframe src="http://{host}/noscript"></iframe></noscript>
<template shadowrootmode="open"><iframe src="http://{host}/shadow"></iframe></template>
<svg><foreignObject><iframe src="http://{host}/svg"></iframe></foreignObject></svg>
<object data="http://{host}/object"></object><embed src="http://{host}/embed">
<portal src="http://{host}/portal"></portal><img src="http://{host}/picture"><video src="http://{host}/film"></video>
<style>@import "http://{host}/import"; p {{ background: url(http://{host}/background) }}</style>
<a id="ping" href="#here" ping="http://{host}/ping">here</a><p>Tere!</p>""".encode()


@contextmanager
def unguarded(page: bytes, headers: dict[str, str]) -> Iterator[str]:
    """A server that sends the bytes as they are, with the headers of a replay."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join(PATIENCE)


def test_a_browser_that_shows_an_archived_page_connects_to_nobody(browser: Browser, kept: KeptWeb) -> None:
    """The same page without the change comes after it: its connection shows that the first had its time."""
    far, control = Listener(), Listener()
    keeper = Keeper(kept.house)
    keeper.new("http://ulatuv.test/", reaching(far.host), at(0))
    keeper.close()
    with browser.new_context() as context:
        page = context.new_page()
        answer = page.goto(f"{kept.address}web/{STAMP}/http://ulatuv.test/")
        assert answer is not None
        page.evaluate("document.getElementById('ping').click()")
        headers = {name: answer.headers[name] for name in ("content-security-policy", "content-type")}
        with unguarded(reaching(control.host), headers) as address:
            page.goto(address)
            wait_until(lambda: control.connections, what="the page as it was connects, in spite of the policy")
    far.close()
    control.close()
    assert far.connections == 0


def test_the_bytes_as_they_came_are_always_to_be_had(kept: KeptWeb, ask_kept: Ask) -> None:
    page = b'<iframe src="http://a.test/"></iframe>' * 10_000
    keeper = Keeper(kept.house)
    keeper.new("http://raamitud.test/", page, at(0))
    keeper.close()
    for mode in ("id_", "dl_"):
        raw = ask_kept(f"/web/{STAMP}{mode}/http://raamitud.test/")
        assert (raw.body, raw.headers["content-disposition"][:10]) == (page, "attachment")
    changed = ask_kept(f"/web/{STAMP}/http://raamitud.test/")
    assert changed.body == page.replace(b"<iframe", b"<xframe")
    assert changed.headers["etag"] != raw.headers["etag"]
    assert changed.headers["content-length"] == str(len(page))
    part = ask_kept(f"/web/{STAMP}/http://raamitud.test/", Range="bytes=70000-70100")
    assert (part.status, part.body) == (206, changed.body[70_000:70_101])
