"""No bytes whatever get anything out of the room but a clean document or one of its errors."""

from __future__ import annotations

import io
import random
import re
import time
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rehi.builtin import table
from rehi.errors import ReadError
from rehi.extract import extract
from rehi.model.document import Document

READERS = table("format")
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
BAD_IN_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')
TYPES = [*READERS, "", "text/plain", "text/html; charset=utf-8", "application/json; charset=x", "image/png", ";;="]
SAMPLES = [
    "<!doctype html><html lang=et><title>Küla</title><meta charset=utf-8><body><nav><ul><li><a href='/a b'>x</a></ul></nav>"
    "<main><p>Jüri Mägi &otilde; läks.</p><table><tr><td>a<td>b</table></main>".encode(),
    b'<?xml version="1.0" encoding="iso-8859-15"?><!DOCTYPE a [<!ENTITY b "c">]><rss><channel><title>x&b;</title>'
    b"<item><description>&lt;p&gt;y</description></item></channel></rss>",
    '{"nimi": "Õie", "a": [1, 2.5, null, true, "http://a.test/", {"b": "\\ud83d\\ude00 <b>x</b>"}]}'.encode(),
    'nimi;linn\n"Jaan ""J"" Tamm";Tartu\nÕie;"Võ\nru"\n'.encode("cp1257"),
    "Ãµhtul lÃ¤ks JÃ¼ri koju-\njärve äärde.\r\n\r\nÐœÐ¾ÑÐºÐ²Ð°".encode(),
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1"
    b"/BaseFont/Times-Roman>>>>>>>>endobj 4 0 obj<</Length 20>>stream\nBT /F 9 Tf (Jaan) Tj ET\nendstream endobj\n"
    b"trailer<</Root 1 0 R/Size 5>>\n%%EOF",
]  # fmt: skip


def check(raw: bytes, media_type: str, url: str = "http://www.rehemaa.test/x") -> None:
    """Read, and look that the document is as clean as its type promises."""
    try:
        document = extract(io.BytesIO(raw), url=url, media_type=media_type, size=len(raw), max_text=2_000)
    except ReadError:
        return
    assert isinstance(document, Document)
    assert len(document.text) <= 2_000
    for text in (document.text, document.title, *(value for _, value in document.metadata)):
        assert not FORBIDDEN.search(text)
        assert unicodedata.is_normalized("NFC", text)
    assert not any(BAD_IN_IRI.search(link) for link in document.links)
    assert "\n" not in document.title
    assert document.media_type in READERS or document.media_type.startswith("text/") or "+" in document.media_type


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(raw=st.binary(max_size=400), media_type=st.sampled_from(TYPES))
def test_any_bytes(raw: bytes, media_type: str) -> None:
    check(raw, media_type)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    text=st.text(max_size=300),
    media_type=st.one_of(st.sampled_from(TYPES), st.text(max_size=30)),
    url=st.text(max_size=40),
)
def test_any_text_under_any_name(text: str, media_type: str, url: str) -> None:
    check(text.encode("utf-8", "surrogatepass"), media_type, url)


MARKUP = st.lists(
    st.sampled_from(
        ["<", ">", "</", "/>", "<!--", "-->", "<![CDATA[", "]]>", "<?xml ", "?>", "<!doctype ", "html", "&", ";", "#x", "<td>",
         "<ul>", "<li>", "<table>", "<script>", "<p", " a=", '"', "'", "{", "}", "[", "]", ",", ":", "\n", "\\u", "d800", "õ", "Ã", "µ"]
    ),
    max_size=60,
)  # fmt: skip


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(pieces=MARKUP, media_type=st.sampled_from(TYPES))
def test_any_pieces_of_markup(pieces: list[str], media_type: str) -> None:
    check("".join(pieces).encode(), media_type)


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<!--",
        "<?",
        " ",
        "\n",
        " \n",
        "<",
        "&",
        "</",
        "[",
        '"',
        "a-\n",
        "ab\n",
        "Ã",
        "Ãµ",
        "<!doctype x [",
        "<meta ",
        "; ",
    ],
)
@pytest.mark.parametrize("media_type", ["text/html", "text/plain", "application/json", "application/xml", "text/csv"])
def test_a_long_row_of_anything_takes_no_more_than_a_moment(piece: str, media_type: str) -> None:
    began = time.process_time()
    for raw in (piece * 60_000, f"x <html><p>{piece * 60_000}", f'{{"a": "<p>{piece * 60_000}"}}'):
        check(raw.encode(), media_type)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("sample", SAMPLES, ids=["html", "xml", "json", "csv", "text", "pdf"])
def test_any_damage(sample: bytes) -> None:
    chance = random.Random(7)
    for _ in range(250):
        raw = bytearray(sample)
        for _ in range(chance.randint(1, 12)):
            place = chance.randrange(len(raw))
            match chance.randrange(4):
                case 0:
                    raw[place] = chance.randrange(256)
                case 1:
                    del raw[place : place + chance.randint(1, 20)]
                case 2:
                    raw[place:place] = chance.randbytes(chance.randint(1, 6))
                case 3:
                    raw[place:place] = raw[place : place + 30] * chance.randint(1, 20)
            if not raw:
                raw = bytearray(b" ")
        check(bytes(raw), chance.choice(TYPES))
