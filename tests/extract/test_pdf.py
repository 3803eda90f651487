"""PDFs, made here byte by byte, give the text of their pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from rehi.errors import Unreadable
from rehi.extract import pdf
from rehi.model.document import Document

Read = Callable[..., Document]

LEFT, TOP, LEADING = 50, 750, 16


def make_pdf(pages: Sequence[Sequence[str]], info: str = "", trailer: str = "") -> bytes:
    """A whole PDF with a line of text for each string, in the Windows encoding of a standard font."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    kids = []
    for lines in pages:
        stream = f"BT /F1 12 Tf {LEFT} {TOP} Td {LEADING} TL ".encode()
        for line in lines:
            escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            stream += b"(" + escaped.encode("cp1252") + b") Tj T* "
        stream += b"ET"
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
        content = len(objects)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>>>"
            % content
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>".encode()
    objects.append(f"<<{info}>>".encode("cp1252"))
    return _assemble(objects, trailer)


def _assemble(objects: Sequence[bytes], trailer: str) -> bytes:
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R/Info {len(objects)} 0 R{trailer}>>\nstartxref\n{len(body)}\n%%EOF"
    return body + b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table) + end.encode()


def test_pages_and_estonian_letters_are_read(read: Read) -> None:
    document = read(make_pdf([["Vallavanem Jüri Mägi", "", "Õie Šmidt (žürii)"], ["Teine lehekülg"]]), "text/html")
    assert document.media_type == "application/pdf"
    assert document.text.split("\n\n") == ["Vallavanem Jüri Mägi", "Õie Šmidt (žürii)", "Teine lehekülg"]


def test_broken_lines_and_hyphens_are_joined(read: Read) -> None:
    lines = [
        "Reede hommikul teatas Rehemaa vallavalitsus, et Katrin",
        "Paio asub juhtima uut osakonda, mille ülesanne on valla tee-",
        "de korrashoid, ning tema abiks saab Jaan Tamm Kohtla-",
        "Järvelt.",
        "Eelarve",
        "Raha tuleb maakonnalt.",
    ]
    assert read(make_pdf([lines])).text.split("\n\n") == [
        "Reede hommikul teatas Rehemaa vallavalitsus, et Katrin Paio asub juhtima uut osakonda, mille ülesanne on valla "
        "teede korrashoid, ning tema abiks saab Jaan Tamm Kohtla-Järvelt.",
        "Eelarve",
        "Raha tuleb maakonnalt.",
    ]


def test_metadata_are_read(read: Read) -> None:
    info = "/Title(Microsoft Word - Aruanne 2024.doc)/Author(Mari Kask)/CreationDate(D:20240203101500Z)"
    document = read(make_pdf([["x"]], info))
    assert document.title == "Aruanne 2024.doc"
    assert document.metadata == (("author", "Mari Kask"), ("date", "2024-02-03"))
    assert read(make_pdf([["x"]], "/Title(untitled)"), url="http://a.test/aruanne.pdf").title == "aruanne.pdf"


def test_an_encrypted_file_says_why_it_is_unreadable(read: Read) -> None:
    secret = f"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{'41' * 32}>/U<{'42' * 32}>>>"
    with pytest.raises(Unreadable, match="encrypted"):
        read(make_pdf([["x"]], trailer=secret))


def test_half_a_file_is_mended_or_unreadable(read: Read) -> None:
    whole = make_pdf([["Jaan Tamm"]])
    assert read(whole[: whole.index(b"startxref")]).text == "Jaan Tamm"
    with pytest.raises(Unreadable):
        read(whole[:60])


def test_a_file_that_calls_itself_text_is_still_a_broken_pdf(read: Read) -> None:
    with pytest.raises(Unreadable):
        read(b"%PDF-1.4\nnothing more", "text/plain")


def test_pages_have_an_end(read: Read) -> None:
    body = make_pdf([[f"Leht {number}"] for number in range(pdf.MAX_PAGES + 5)])
    assert read(body).text.endswith(f"Leht {pdf.MAX_PAGES - 1}")


def test_text_is_cut_at_its_limit(read: Read) -> None:
    assert len(read(make_pdf([["Jaan Tamm " * 5] * 40] * 20), max_text=1000).text) <= 1000


def test_its_pages_are_its_parts(read: Read) -> None:
    document = read(make_pdf([["  Esimene leht"], [], ["Kolmas leht", "lõpeb"]]))
    assert [(part.kind, part.title) for part in document.parts] == [("page", "1"), ("page", "2"), ("page", "3")]
    texts = [document.text[part.start : part.end] for part in document.parts]
    assert texts == ["Esimene leht", "", document.text[len("Esimene leht") + 2 :]]
    assert texts[2].startswith("Kolmas leht")


def test_pages_beyond_the_limit_of_the_text_are_no_parts(read: Read) -> None:
    document = read(make_pdf([["Jaan Tamm " * 5] * 40] * 20), max_text=1000)
    assert all(part.end <= len(document.text) for part in document.parts)
    assert len(document.parts) < 20
