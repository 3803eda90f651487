"""The practice web as a whole: how much of it there is, that it is the same every time, and that its truth is true."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from resiliparse.extract.html2text import extract_plain_text

from rehi.testing.world import START, World
from rehi.testing.world.charsets import Declared, Mojibake
from rehi.testing.world.formats import Format
from rehi.testing.world.hosts import WorldDocument


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def read(world: World, document: WorldDocument) -> str:
    """A document's words, by readers that know nothing of how they were written."""
    body = world.body(document.url)
    if document.format is Format.PDF:
        import pypdfium2

        pdf = pypdfium2.PdfDocument(body)
        try:
            return " ".join(pdf[number].get_textpage().get_text_range() for number in range(len(pdf)))
        finally:
            pdf.close()
    if document.format is Format.JSON:
        return json.dumps(json.loads(body), ensure_ascii=False)
    if document.format in (Format.XML, Format.RSS):
        return " ".join(ElementTree.fromstring(body).itertext())
    text = body.decode(document.charset.name)
    if document.charset.mojibake:
        text = text.encode("latin-1" if document.charset.mojibake is Mojibake.LATIN else "cp1252").decode()
    if document.format is Format.HTML:
        return str(extract_plain_text(text, main_content=False))
    if document.format is Format.CSV:
        delimiter = max(";,\t", key=text.splitlines()[0].count)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        assert len({len(row) for row in rows}) == 1
        return " ".join(" ".join(row) for row in rows)
    return text


def test_there_are_enough_hosts_and_documents_of_every_format(world: World) -> None:
    own = [document for document in world.documents if not document.copy_of]
    assert len(world.host_names) >= 40
    assert len(own) >= 600
    assert set(Counter(document.format for document in own)) == set(Format)
    assert min(Counter(document.format for document in own).values()) >= 5
    share = sum(document.language == "et" for document in own) / len(own)
    assert 0.60 <= share <= 0.70
    assert len({document.url for document in world.documents}) == len(world.documents)
    assert all(name.endswith(".test") for name in world.host_names)


def test_the_small_one_has_every_format_and_every_trap(world: World) -> None:
    small = World(small=True)
    assert 50 <= len(small.documents) <= 120
    assert {document.format for document in small.documents} == set(Format)
    assert {trap.about for trap in small.traps} == {trap.about for trap in world.traps}


def test_two_of_one_seed_are_equal_and_of_two_seeds_are_not() -> None:
    first, second, other = World(3, small=True), World(3, small=True), World(4, small=True)
    assert list(first.crawl_log()) == list(second.crawl_log())
    later = START + timedelta(days=3, hours=5)
    for url in (document.url for document in first.documents):
        assert first.body(url) == second.body(url)
        assert first.body(url, later) == second.body(url, later)
    assert any(first.body(document.url) != other.body(document.url) for document in first.documents)


def test_every_name_of_the_truth_stands_in_its_document(world: World) -> None:
    for document in world.documents:
        words = flat(read(world, document))
        truth = world.truth(document.url)
        assert truth.names, document.url
        assert {(kind, base) for kind, base, _ in truth.surfaces} == truth.names
        for _, _, surface in truth.surfaces:
            assert surface in words, (document.url, surface)
        assert not truth.names & truth.also


def test_the_truth_leaves_no_person_out(world: World) -> None:
    full_name = re.compile(r"\b(?:Katrin|Toomas|Kaspar|Piret|Ülo|Väino|Leelo|Märt) [A-ZÕÄÖÜ][a-zõäöü]+")
    for document in world.documents:
        text = world.text(document.url)
        words = " | ".join((*text.paragraphs, *(cell for row in text.rows for cell in row)))
        surfaces = {surface for _, _, surface in world.truth(document.url).surfaces}
        for name in full_name.findall(words):
            assert any(name in surface for surface in surfaces), (document.url, name)


def test_documents_are_as_long_as_articles_are(world: World) -> None:
    for document in world.documents:
        text = world.text(document.url)
        words = " ".join((*text.paragraphs, *(cell for row in text.rows for cell in row))).split()
        assert 80 <= len(words) <= 620, document.url
        assert "{" not in " ".join((text.title, *words))


def test_every_charset_holds_the_same_text(world: World) -> None:
    pages = [document for document in world.documents if document.key == "charset"]
    assert {page.charset.name for page in pages} == {"utf-8", "iso-8859-1", "iso-8859-15", "windows-1257"}
    assert {page.charset.declared for page in pages} == set(Declared)
    assert {page.charset.mojibake for page in pages} == set(Mojibake)
    paragraphs = world.text(pages[0].url).paragraphs
    assert any(letter in " ".join(paragraphs) for letter in "õäöü")
    for page in pages:
        words = flat(read(world, page))
        assert all(paragraph in words for paragraph in paragraphs), page.url


def test_damaged_pages_show_mojibake_and_nothing_else_does(world: World) -> None:
    for document in world.documents:
        shown = "Ã" in world.body(document.url).decode("utf-8", "replace")
        assert shown == bool(document.charset.mojibake), document.url


def test_copies_are_exact_and_cross_hosts(world: World) -> None:
    copies = [document for document in world.documents if document.copy_of]
    assert len(copies) >= 15
    for copy in copies:
        assert world.body(copy.url) == world.body(copy.copy_of)
        assert world.truth(copy.url) == world.truth(copy.copy_of)
    assert len({document.copy_of for document in copies}) < len(copies)


def test_confusing_names_are_there(world: World) -> None:
    truth = world.truth("http://nimed.rehemaa.test/et/1.html")
    bases = {(str(kind), base) for kind, base in truth.names}
    assert {("person", "Linda Kivi"), ("place", "Linda Kivi"), ("place", "Nurmesalu")} <= bases
    assert sum(base.endswith(" Lepasaar") for _, base in bases) == 3
    assert ("person", "Kaspar Lepasaar") in bases
    assert world.text("http://nimed.rehemaa.test/et/4.html").title.isupper()


@pytest.mark.parametrize(("hours", "changed"), [(0, False), (1, True), (24, True)])
def test_front_pages_of_papers_change_every_hour(world: World, hours: int, changed: bool) -> None:
    url = "http://www.rehemaateataja.test/"
    later = START + timedelta(hours=hours, minutes=59)
    assert (world.body(url, START) != world.body(url, later)) is changed
    assert (world.truth(url, START).names != world.truth(url, later).names) is changed


def test_an_hour_moves_a_front_page_by_one_item(world: World) -> None:
    url = "http://www.rehemaateataja.test/"
    now, then = (set(world.text(url, START + timedelta(hours=hour)).paragraphs) for hour in (0, 1))
    assert len(now & then) >= len(now) // 2


def test_registers_change_in_part_every_day(world: World) -> None:
    register = next(document for document in world.documents if document.format is Format.CSV)
    now, then = (world.text(register.url, START + timedelta(days=day)).rows for day in (0, 1))
    kept = set(now) & set(then)
    assert now != then
    assert len(kept) > len(now) / 2


def test_most_pages_never_change(world: World) -> None:
    still = [document for document in world.documents if document.period is None]
    assert len(still) > len(world.documents) / 2
    for document in still[::40]:
        assert world.body(document.url, START) == world.body(document.url, START + timedelta(days=900))
