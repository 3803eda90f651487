"""Soft 404: error pages with status 200 are told from pages that are what they say."""

from __future__ import annotations

import io
import os
import random
import re
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.errors import TimedOut
from rehi.fetch.soft_404 import (
    count_different_words,
    fingerprint,
    front_url,
    is_app_shell,
    is_similar,
    is_soft_404,
    probe_url,
    read_probe,
)
from rehi.model.host import Probe
from rehi.model.visit import Answer, Visit
from rehi.testing.world import START, World
from tests.fetch.conftest import made_up

CORPUS = Path(os.environ.get("REHI_CORPORA", Path(__file__).parents[3] / "shared" / "corpora")) / "08-maintext"
NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
ORIGIN = "https://vald.test"
MENU = " ".join(
    f"<li><a href='/{word}'>{word}</a></li>" for word in ["uudised", "kontakt", "volikogu", "eelarve", "kultuur"]
)
FOOT = "<footer>" + " ".join(f"vallavalitsus{chr(97 + at)}" for at in range(26)) * 3 + "</footer>"


def _page(title: str, main: str, *, noise: int = 0) -> bytes:
    """A page as a common blog engine makes it: mostly menu and footer, with a nonce, a date and a counter."""
    rng = random.Random(noise)
    nonce = f"{rng.getrandbits(64):016x}"
    month = rng.choice(["jaanuar", "veebruar", "märts"])
    return (
        f"<!DOCTYPE html><html lang='et'><head><title>{title} – Metsavald</title><style>p {{ color: #{nonce[:6]} }}</style>"
        f"<script nonce='{nonce}'>var state = {{'token': '{nonce}'}};</script></head><body class='page-{noise}'>"
        f"<!-- cached {nonce} --><nav><ul>{MENU}</ul></nav><p>Täna on {rng.randrange(28)}. {month} {2020 + noise % 6}</p>"
        f"<main><h1>{title}</h1>{main}</main>{FOOT}<p>Külastajaid: {rng.randrange(9999)}, id {nonce}</p></body></html>"
    ).encode()


def _error_page(url: str, *, noise: int = 0) -> bytes:
    term = url.rpartition("/")[2].replace("-", " ")
    main = f"<p>Vabandame, lehte {url.removeprefix(ORIGIN)} ei leitud. Otsi: <input value='{term}'></p><p>Otsingule „{term}“ ei vasta miski.</p>"
    return _page("Lehekülge ei leitud", main, noise=noise)


def _visit(url: str, answer: Answer) -> Visit:
    return Visit(url=url, started_at=NOW, seconds=0.1, answer=answer)


def _fingerprint(body: bytes, url: str = f"{ORIGIN}/a") -> bytes:
    return fingerprint(io.BytesIO(body), media_type="text/html", url=url)


@pytest.fixture
def probe() -> Probe:
    url = probe_url(ORIGIN, now=NOW)
    return read_probe(_visit(url, made_up(_error_page(url, noise=1))), now=NOW)


def test_a_probe_asks_for_the_same_thing_all_day_and_for_another_the_next() -> None:
    url = probe_url(ORIGIN, now=NOW)
    assert re.fullmatch(r"https://vald\.test/rehi-[0-9a-f]{16}", url)
    assert probe_url(ORIGIN, now=NOW + timedelta(hours=5)) == url
    assert probe_url(ORIGIN, now=NOW + timedelta(days=1)) != url
    assert probe_url("https://linn.test", now=NOW).rpartition("/")[2] != url.rpartition("/")[2]


@pytest.mark.parametrize(
    "path",
    [
        "/uudised/2024/05/valla-uus-eelarve",
        "/kontakt",
        "/a.php?id=7&otsi=metsa+tee",
        "/Kool/%C3%95petajad.html",
        "/x" * 300,
    ],
)
@pytest.mark.parametrize("noise", [2, 3, 4, 5])
def test_an_error_page_is_known_by_the_probe_whatever_it_repeats(probe: Probe, path: str, noise: int) -> None:
    answer = made_up(_error_page(ORIGIN + path, noise=noise))
    assert is_soft_404(answer, url=ORIGIN + path, probe=probe)
    assert answer.body.tell() == 0


@pytest.mark.parametrize(
    ("title", "main"),
    [
        ("Kontakt", "<p>Telefon 555 1234, Tartu mnt 5, Metsaküla. E-post info@vald.test</p>"),
        ("Volikogu", "<p>Volikogu istung toimub neljapäeval kell 10 vallamajas.</p>"),
        ("Eelarve", "<table><tr><td>Haridus</td><td>1000</td></tr><tr><td>Kultuur</td><td>2000</td></tr></table>"),
    ],
)
def test_a_short_page_between_much_menu_and_footer_is_no_error(probe: Probe, title: str, main: str) -> None:
    url = f"{ORIGIN}/{title.lower()}"
    assert not is_soft_404(made_up(_page(title, main, noise=7)), url=url, probe=probe)


def test_two_articles_in_one_template_are_not_similar() -> None:
    first = _page("Uus kool avati", "<p>Metsakülas avati esmaspäeval uus koolimaja, kus õpib sada last.</p>")
    second = _page("Tee suletakse", "<p>Remondi tõttu suletakse alates juulist Järve tänava lõik kaupluse ees.</p>")
    assert not is_similar(_fingerprint(first, f"{ORIGIN}/uus-kool"), _fingerprint(second, f"{ORIGIN}/tee"))


def test_the_front_page_is_never_an_error(probe: Probe) -> None:
    body = _error_page(f"{ORIGIN}/")
    assert not is_soft_404(made_up(body), url=f"{ORIGIN}/", probe=probe)
    assert is_soft_404(made_up(body), url=f"{ORIGIN}/?p=404", probe=probe)


def test_a_host_that_was_not_asked_or_is_honest_has_no_soft_errors() -> None:
    url = probe_url(ORIGIN, now=NOW)
    answer = made_up(_error_page(url), status=404)
    honest = read_probe(_visit(url, answer), now=NOW)
    assert honest == Probe(status=404, fingerprint=b"", at=NOW)
    assert answer.body.closed
    for known in (None, honest):
        assert not is_soft_404(made_up(_error_page(f"{ORIGIN}/x")), url=f"{ORIGIN}/x", probe=known)


@pytest.mark.parametrize("status", [301, 302, 403, 404, 410, 500, 503])
def test_only_a_probe_that_pretends_to_be_a_page_has_a_fingerprint(status: int) -> None:
    url = probe_url(ORIGIN, now=NOW)
    assert read_probe(_visit(url, made_up(_error_page(url), status=status)), now=NOW).fingerprint == b""
    assert read_probe(_visit(url, made_up(_error_page(url), status=200)), now=NOW).fingerprint != b""


def test_a_probe_that_nobody_answered_has_no_status() -> None:
    visit = Visit(url=probe_url(ORIGIN, now=NOW), started_at=NOW, seconds=1.0, error=TimedOut("x"))
    assert read_probe(visit, now=NOW) == Probe(status=0, fingerprint=b"", at=NOW)


def test_an_answer_that_is_no_page_or_no_success_is_no_soft_error(probe: Probe) -> None:
    body = _error_page(f"{ORIGIN}/x")
    assert not is_soft_404(made_up(body, media_type="application/pdf"), url=f"{ORIGIN}/x", probe=probe)
    assert not is_soft_404(made_up(body, status=404), url=f"{ORIGIN}/x", probe=probe)


def test_the_shell_of_an_application_is_no_error() -> None:
    shell = (
        b"<!doctype html><html><head><title>Andmeportaal</title><script src=/app.js></script></head><body>"
        b"<noscript>You need to enable JavaScript to run this app, so please do it now.</noscript><div id=root></div>"
    )
    url = probe_url(ORIGIN, now=NOW)
    probe = read_probe(_visit(url, made_up(shell)), now=NOW)
    assert not is_soft_404(made_up(shell), url=f"{ORIGIN}/andmed/7", probe=probe)


def test_an_application_that_shows_its_front_page_for_everything_can_not_be_told(probe: Probe) -> None:
    front = _page("Metsavald", "<p>Tere tulemast valla kodulehele, mis näitab alati ühte ja sama lehte.</p>")
    address = front_url(f"{ORIGIN}/")
    assert address == f"{ORIGIN}/"
    url = probe_url(ORIGIN, now=NOW)
    everywhere = read_probe(_visit(url, made_up(front)), now=NOW)
    answer = made_up(front)
    assert is_app_shell(_visit(address, answer), probe=everywhere)
    assert answer.body.closed
    assert not is_app_shell(_visit(address, made_up(front)), probe=probe)
    assert not is_app_shell(_visit(address, made_up(front)), probe=None)
    assert not is_app_shell(_visit(address, made_up(front, status=404)), probe=everywhere)
    assert not is_app_shell(Visit(url=address, started_at=NOW, seconds=1.0, error=TimedOut("x")), probe=everywhere)


def test_a_front_page_without_scripts_that_is_shown_for_everything_is_an_error_elsewhere() -> None:
    front = re.sub(rb"<script.*?</script>", b"", _page("Metsavald", "<p>Tere tulemast valla kodulehele.</p>"))
    everywhere = read_probe(_visit(probe_url(ORIGIN, now=NOW), made_up(front)), now=NOW)
    assert not is_app_shell(_visit(f"{ORIGIN}/", made_up(front)), probe=everywhere)
    assert is_soft_404(made_up(front), url=f"{ORIGIN}/andmed/7", probe=everywhere)


def test_a_page_beyond_all_measure_is_no_error_page() -> None:
    assert _fingerprint(_page("Kava", "<p>pikk jutt</p>" * 10_000)) != b""
    assert _fingerprint(_page("Kava", "<p>pikk jutt</p>" * 20_000)) == b""


def test_a_bare_error_page_is_known_too() -> None:
    body = b"<html><title>Viga</title><p>Seda lehte ei ole.</p></html>"
    url = probe_url(ORIGIN, now=NOW)
    probe = read_probe(_visit(url, made_up(body)), now=NOW)
    assert is_soft_404(made_up(body), url=f"{ORIGIN}/x", probe=probe)
    other = b"<html><title>Kava</title><p>Seda lehte ei ole.</p></html>"
    assert not is_soft_404(made_up(other), url=f"{ORIGIN}/x", probe=probe)


def test_pages_of_the_practice_web_are_similar_only_if_they_say_the_same() -> None:
    world = World(seed=1)
    hosts = defaultdict(list)
    for document in world.documents:
        if "html" in document.media_type and not document.late:
            page = _fingerprint(world.body(document.url, START), document.url)
            hosts[document.url.split("/")[2]].append((page, document, world.text(document.url, START)))
    pairs = wrong = 0
    for pages in hosts.values():
        for (first, _, text), (second, _, other) in combinations(pages, 2):
            if (text.title, text.paragraphs) != (other.title, other.paragraphs):
                pairs += 1
                wrong += is_similar(first, second)
    assert pairs > 3_000
    assert wrong == 0


def test_in_real_templates_one_paragraph_makes_the_difference() -> None:
    if not CORPUS.is_dir():
        pytest.skip(f"there are no pages in {CORPUS}")
    paragraph = re.compile(rb"(<p\b[^>]*>)(.*?)(</p>)", re.DOTALL | re.IGNORECASE)
    pages = [page for path in CORPUS.rglob("*.html") if len(page := path.read_bytes()) < 200_000]
    paragraphs = [match[2] for page in pages for match in paragraph.finditer(page)]
    texts = [text for text in paragraphs if 20 <= len(re.sub(rb"<[^>]*>", b"", text).split()) < 80]
    rng = random.Random(3)
    for page in pages:
        bare = b"<p></p>" + paragraph.sub(b"", page)
        first, second = (
            _fingerprint(bare.replace(b"<p></p>", b"<p>%s</p>" % text, 1)) for text in rng.sample(texts, 2)
        )
        assert not is_similar(first, second)
        noisy = (_fingerprint(re.sub(rb"\d", b"%d" % digit, bare)) for digit in (3, 8))
        same = [each for each in noisy if each]
        assert all(is_similar(same[0], each) for each in same)


@pytest.mark.parametrize(
    "body",
    [
        b"<script" * 9_000,
        b"<!--" * 16_000,
        b"<style>" * 9_000,
        b"<" * 65_536,
        b">" * 65_536,
        b"<title>" * 9_000,
        b"a b" * 20_000,
    ],
)
def test_a_page_made_to_cost_time_does_not(body: bytes) -> None:
    began = time.process_time()
    _fingerprint(body * 4, f"{ORIGIN}/{'a-' * 2_000}")
    assert time.process_time() - began < 0.2


@given(st.binary(max_size=300), st.text(max_size=30), st.text(max_size=30))
def test_no_content_breaks_it(body: bytes, path: str, media_type: str) -> None:
    page = fingerprint(io.BytesIO(body), media_type=media_type, url=f"http://x.test/{path}")
    assert is_similar(page, page) in (True, False)
    assert not is_similar(page, b"")


@given(st.sets(st.text("abcdefgh", min_size=3, max_size=9), min_size=40, max_size=200), st.integers(0, 20))
def test_words_that_differ_are_counted(words: set[str], more: int) -> None:
    extra = [f"zz{chr(97 + at)}" for at in range(more)]
    first, second = (_fingerprint(f"<p>{' '.join(some)}".encode()) for some in ([*words], [*words, *extra]))
    assert count_different_words(first, second) <= more
    assert count_different_words(first, second) % 2 == more % 2
