"""Pages give the text that a visitor came to read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rehi.extract.iri import MAX_LINKS
from rehi.extract.markup import MAX_COPIES, is_beyond_trees
from rehi.model.document import Document

Read = Callable[..., Document]

PARAGRAPH = (
    "Volikogu istung toimus neljapäeval Rehemaal ja seal arutati teede korrashoidu ning eelarvet. "
    "Kohal olid kõik, kes hääletasid, ja ka need, kes seda ei teinud, sest nii näeb kord ette igal aastal."
)
PAGE = f"""<!doctype html><html lang="et-EE"><head><title>Istung \n peeti</title>
<meta name="author" content="Mari Põld"><meta property="og:description" content="Lühidalt">
<meta name="description" content="Pikemalt"><meta property="article:published_time" content="2024-02-01">
<style>p {{}}</style><script>var Jaan = "Skript"</script></head><body>
<nav><ul><li><a href="/avaleht">Avaleht Menüü</a></li></ul></nav>
<main><h1>Volikogu istung</h1><p>{PARAGRAPH}</p><ul><li>Jaan Tamm</li><li>Mari Põld</li></ul>
<table><tr><th>Nimi</th><th>Linn</th></tr><tr><td>Jüri Kask</td><td>Võru</td></tr></table>
<p>{PARAGRAPH} <a href="../teine.html#osa">Teine</a> <a href="../teine.html">Teine</a></p></main>
<footer>Jalus 2024</footer></body></html>"""


def test_the_body_is_read_and_the_frame_is_not(read: Read) -> None:
    text = read(PAGE, "text/html").text
    assert "Volikogu istung" in text
    assert "hääletasid" in text
    assert not any(noise in text for noise in ("Menüü", "Jalus", "Skript", "p {}"))


def test_headings_items_and_rows_are_paragraphs(read: Read) -> None:
    paragraphs = read(PAGE, "text/html").text.split("\n\n")
    assert paragraphs[0] == "Volikogu istung"
    assert {"Jaan Tamm", "Mari Põld", "Nimi; Linn", "Jüri Kask; Võru"} <= set(paragraphs)
    assert not any("\n" in paragraph for paragraph in paragraphs)


def test_what_the_head_says_is_kept(read: Read) -> None:
    document = read(PAGE, "text/html")
    assert (document.title, document.language, document.charset) == ("Istung peeti", "et-ee", "utf-8")
    assert document.metadata == (("author", "Mari Põld"), ("description", "Lühidalt"), ("date", "2024-02-01"))


def test_links_are_absolute_clean_and_come_once(read: Read) -> None:
    document = read(
        '<html><body><base href="/kaust/"><a href="a b|c">1</a><a href="õ?q={x}^`">2</a><a href="a b|c#x">3</a>'
        '<a href="mailto:x@y">4</a><a href="javascript:x()">5</a><a href="http://[">6</a><a href="100%">7</a>',
        url="https://www.rehemaa.test/x/y",
    )
    assert document.links == (
        "https://www.rehemaa.test/kaust/a%20b%7Cc",
        "https://www.rehemaa.test/kaust/%C3%B5?q=%7Bx%7D%5E%60",
        "https://www.rehemaa.test/kaust/100%25",
    )


def test_links_have_an_end(read: Read) -> None:
    assert len(read("<html>" + "".join(f"<a href={n}>x</a>" for n in range(6000))).links) == MAX_LINKS


def test_a_page_without_a_main_part_is_read_whole(read: Read) -> None:
    text = read("<html><body><nav>Menüü</nav><ul><li>Jaan Tamm</li><li>Mari Põld</li></ul></body></html>").text
    assert text.split("\n\n") == ["Menüü", "Jaan Tamm", "Mari Põld"]


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-15", "windows-1257", "iso-8859-4"])
@pytest.mark.parametrize("declared_by", ["server", "page", "nobody", "a liar"])
def test_estonian_letters_come_through(read: Read, charset: str, declared_by: str) -> None:
    words = "Õnne Köster ja Ülle Šmidt sõitsid Võrru žüriisse, kus Jõgeva näitering mängis öösel."
    meta = f'<meta charset="{charset}">' if declared_by == "page" else ""
    said = {"server": f"; charset={charset}", "a liar": "; charset=iso-8859-1"}.get(declared_by, "")
    body = f"<html><head>{meta}<title>Küla</title></head><body><p>{words}</p></body></html>".encode(charset)
    document = read(body, "text/html" + said)
    assert (document.text, document.title) == (words, "Küla")


def test_mojibake_is_repaired_in_text_title_and_metadata(read: Read) -> None:
    page = "<html><title>Võru</title><meta name=author content='Õie Mägi'><body><p>Jüri Šmidt läks Põltsamaale.</p>"
    document = read(page.encode().decode("cp1252", "replace").replace("\ufffd", "\x95").encode(), "text/html")
    assert "läks Põltsamaale" in document.text
    assert document.title == "Võru"


def test_entities_and_old_habits_are_read(read: Read) -> None:
    text = read("<font>J&otilde;gi</font><br>M&#228;gi&nbsp;Maa<p>Lõpp<p>Uus", "text/html").text
    assert text.split("\n\n") == ["Jõgi", "Mägi Maa", "Lõpp", "Uus"]


@pytest.mark.parametrize(
    "bomb", ["<div>" * 100_000, "<ul><li>x" * 20_000, "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">"]
)
def test_too_deep_or_wide_a_page_is_read_flat(read: Read, bomb: str) -> None:
    document = read(f"<html><title>Sügav</title><body><script>ei</script>{bomb}<p>Jaan &amp; Mari</p>", "text/html")
    assert document.title == "Sügav"
    assert document.text.endswith("Jaan & Mari")
    assert "ei" not in document.text


def test_a_wide_table_is_read_row_by_row(read: Read) -> None:
    rows = "<tr><td>Jaan</td><td><b>Ta</b>mm</td></tr>\n" * 20_000
    text = read(f"<html><body><table>{rows}</table></body></html>", "text/html").text
    assert set(text.split("\n\n")) == {"Jaan; Tamm"}


def test_text_is_cut_at_its_limit(read: Read) -> None:
    assert len(read(PAGE, "text/html", max_text=100).text) <= 100


def test_formatting_that_is_never_ended_makes_a_flat_page_and_in_cells_does_no_harm(read: Read) -> None:
    flat = read("<p><b id=1>Mari " + "".join(f"<p><b id={n}>Jaan" for n in range(2_000)), "text/html").text
    assert flat.startswith("Mari\n\nJaan\n\nJaan")
    rows = "".join(f"<tr><td><font color={n}>Jaan {n}<td><b>Tartu {n}</tr>" for n in range(1_900))
    page = read(f"<main><table>{rows}</table></main><nav>Menüü</nav>", "text/html").text
    assert "Jaan 1899; Tartu 1899" in page
    assert "Menüü" not in page  # so it was read as a tree


def test_end_tags_that_end_nothing_do_not_hide_how_deep_a_page_is(read: Read) -> None:
    text = read("<div></b></i>Jaan " * 30_000, "text/html").text
    assert text.split() == ["Jaan"] * 30_000


@pytest.mark.parametrize(
    "markup",
    [
        "<table><b id={n}><tr><td>a</table>",  # what stands between cells comes before the table, and goes on after it
        "<div><i class={n}>a</div>",
        "<p><font color={n}>a<table><td>b</table>",
        "<li><nobr></nobr><em id={n}>a",
    ],
)
def test_copies_of_formatting_elements_are_foreseen(markup: str) -> None:
    from resiliparse.parse.html import HTMLTree

    page = "".join(markup.replace("{n}", str(n)) for n in range(800))
    assert len(HTMLTree.parse(page).document.query_selector_all("*")) > MAX_COPIES
    assert is_beyond_trees(page)
