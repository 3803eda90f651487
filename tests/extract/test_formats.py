"""Texts, tables, JSON and XML give their words in order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rehi.errors import NotText, Unreadable
from rehi.model.document import Document

Read = Callable[..., Document]


def test_wrapped_lines_are_joined_and_paragraphs_kept(read: Read) -> None:
    text = read(
        "Rehemaa teated\n\nEile hommikul teatas vallavanem Katrin\nPaio, et teed on jälle igal pool kor-\n"
        "ras ja et kõige pikem tee Kohtla-\nJärvele on avatud.\n- esimene asi\n",
        "text/plain",
    ).text
    assert text.split("\n\n") == [
        "Rehemaa teated",
        "Eile hommikul teatas vallavanem Katrin Paio, et teed on jälle igal pool korras ja et kõige pikem tee "
        "Kohtla-Järvele on avatud.",
        "- esimene asi",
    ]


def test_long_lines_are_paragraphs_of_their_own(read: Read) -> None:
    line = "Katrin Paio ütles pika jutu, mis ühele reale ei mahu, aga murda seda ka keegi ei tahtnud. " * 3
    assert read(f"{line}\nJaan Tamm\nMari Põld", "text/plain").text.split("\n\n")[1:] == ["Jaan Tamm", "Mari Põld"]


def test_a_text_is_called_by_its_first_line_or_its_file(read: Read) -> None:
    assert read("Teade\n\nSisu", "text/plain").title == "Teade"
    assert read("x" * 400, "text/plain", url="http://a.test/k%C3%BCla.txt").title == "küla.txt"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_of_cells_are_read_with_any_delimiter(read: Read, delimiter: str) -> None:
    rows = [["nimi", "linn", "märkus"], ["Jaan Tamm", "Tartu", '"sõna, ""teine""; kolmas"'], ["Õie Mägi", "", "x"]]
    document = read("\r\n".join(delimiter.join(row) for row in rows), "text/csv", url="http://a.test/isikud.csv")
    assert document.title == "isikud.csv"
    assert document.text.split("\n\n") == [
        "nimi; linn; märkus",
        'Jaan Tamm; Tartu; sõna, "teine"; kolmas',
        "Õie Mägi; x",
    ]


def test_a_quote_that_is_never_closed_does_not_swallow_the_table(read: Read) -> None:
    text = read('a,b\n"x,y\n' + "Jaan Tamm,Tartu\n" * 100, "text/csv").text
    assert text.count("Jaan Tamm; Tartu") == 100


def test_a_cell_may_be_long_and_a_table_is_cut(read: Read) -> None:
    assert len(read("a,b\n" + "x" * 500_000 + ",y\n", "text/csv").text) > 500_000
    assert len(read("Jaan,Tamm\n" * 100_000, "text/csv", max_text=5_000).text) <= 5_000


def test_json_gives_its_strings_under_their_names(read: Read) -> None:
    document = read(
        '{"title": "Register", "lang": "et", "isikud": [{"nimi": "Jaan Tamm", "vanus": 40, "koduleht": "http://a.test/x y"},'
        ' {"nimi": "\\u00d5ie M\\u00c3\\u00a4gi", "leht": "https://b.test/õ"}], "html": "<p>Üks</p><p>Kaks</p>"}',
        "application/json",
    )
    assert document.text.split("\n\n") == [
        "title: Register", "lang: et", "nimi: Jaan Tamm", "koduleht: http://a.test/x y", "nimi: Õie Mägi",
        "html: Üks", "Kaks",
    ]  # fmt: skip
    assert (document.title, document.language) == ("Register", "et")
    assert document.links == ("https://b.test/%C3%B5",)


def test_lines_of_json_are_read_even_if_one_is_broken(read: Read) -> None:
    lines = [f'{{"nimi": "Isik {number}"}}' for number in range(20)]
    lines[7] = '{"nimi": '
    text = read("\n".join(lines), "application/x-ndjson").text
    assert text.startswith("nimi: Isik 0\n\nnimi: Isik 1")
    assert text.count("Isik") == 19


def test_json_with_nan_and_half_characters_is_forgiven(read: Read) -> None:
    assert read('{"a": NaN, "nimi": "Jaan\\ud800 Tamm"}', "application/json").text == "nimi: Jaan Tamm"


@pytest.mark.parametrize("body", ["[" * 200_000, "[" * 50_000 + "]" * 50_000, '{"a":' * 100_000, '{"a": "b"'])
def test_json_beyond_reading_is_unreadable(read: Read, body: str) -> None:
    with pytest.raises(Unreadable):
        read(body, "application/json")


def test_what_only_looked_like_json_is_a_text(read: Read) -> None:
    document = read('{"Tere", ütles Jaan.', "text/plain")
    assert (document.media_type, document.text) == ("text/plain", '{"Tere", ütles Jaan.')


def test_xml_gives_the_text_of_its_elements(read: Read) -> None:
    document = read(
        '<?xml version="1.0" encoding="UTF-8"?><!-- ei --><oigusakt xml:lang="et"><aktinimi><pealkiri>Jäätmeseadus'
        "</pealkiri></aktinimi><lg><nr>1</nr><tekst>Otsuse teeb <b>Katrin</b> Paio<br/>koos Jaan Tammega &amp; teistega"
        '</tekst></lg><isik nimi="Õie Mägi" id="7"/><link href="/lisa.pdf"/></oigusakt>',
        "text/xml",
    )
    assert document.text.split("\n\n") == [
        "Jäätmeseadus", "1", "Otsuse teeb Katrin Paio koos Jaan Tammega & teistega", "Õie Mägi",
    ]  # fmt: skip
    assert (document.title, document.language) == ("Jäätmeseadus", "et")
    assert document.links == ("http://www.rehemaa.test/lisa.pdf",)


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-15", "windows-1257", "utf-16"])
def test_xml_is_read_in_its_encoding(read: Read, charset: str) -> None:
    body = f'<?xml version="1.0" encoding="{charset}"?><a><b>Õie Šmidt sõitis Võrru öösel žüriisse</b></a>'
    assert read(body.encode(charset)).text == "Õie Šmidt sõitis Võrru öösel žüriisse"


def test_a_feed_gives_its_items_without_their_markup(read: Read) -> None:
    document = read(
        """<rss version="2.0"><channel><title>Rehemaa uudised</title><link>http://www.rehemaa.test/</link>
        <language>et</language><item><title>Esimene</title><guid>abc-1</guid><pubDate>Mon, 1 Jan 2024</pubDate>
        <link>http://www.rehemaa.test/1</link><description>&lt;p&gt;Jaan Tamm &amp;amp; pojad&lt;/p&gt;</description></item>
        <item><title>Teine &otilde;ue</title><description><![CDATA[<p>Mari</p><p>Põld</p>]]></description></item>
        </channel></rss>""",
        "text/html",
    )
    assert document.media_type == "application/rss+xml"
    assert document.title == "Rehemaa uudised"
    assert document.text.split("\n\n") == [
        "Rehemaa uudised", "et", "Esimene", "Jaan Tamm & pojad", "Teine õue", "Mari", "Põld",
    ]  # fmt: skip
    assert document.links == ("http://www.rehemaa.test/", "http://www.rehemaa.test/1")


def test_entities_neither_grow_nor_reach_out(read: Read, tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("saladus") / "fail"
    secret.write_text("salajane")
    growing = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    laughs = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "haha">{growing}]><a><b>Jaan</b><c>&e9;</c></a>'
    assert len(read(laughs).text) < 100
    outside = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]><a><b>Jaan</b><c>&x;</c></a>'
    document = read(outside)
    assert "Jaan" in document.text
    assert "salajane" not in document.text


def test_broken_and_bottomless_xml_is_read_as_far_as_it_goes(read: Read) -> None:
    assert "Jaan Tamm" in read("<?xml version='1.0'?><a><b>Jaan Tamm</b><c>& lõpp", "text/xml").text
    assert "Jaan Tamm" in read("<?xml version='1.0'?>" + "<a>" * 50_000 + "Jaan Tamm", "text/xml").text


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        (b"\x89PNG\r\n\x1a\n", "text/html"),
        (b"PK\x03\x04xx", ""),
        (bytes(range(256)), "text/plain"),
        (b"a {}", "text/css"),
    ],
)
def test_what_holds_no_text_says_so(read: Read, body: bytes, declared: str) -> None:
    with pytest.raises(NotText, match="holds no text"):
        read(body, declared)


def test_nothing_is_read_beyond_the_stated_size(read: Read) -> None:
    import io

    from rehi.extract import extract

    endless = io.BytesIO(b"Jaan Tamm " * 1000)
    assert extract(endless, url="", media_type="text/plain", size=9, max_text=100).text == "Jaan Tamm"
    assert endless.tell() == 9


def test_an_empty_body_is_an_empty_text(read: Read) -> None:
    assert read(b"", "text/html").text == ""
