"""The type of a file is told by its first bytes."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from pathlib import Path

import pytest

from rehi.model.media import MEDIA_TYPES, Magic, MediaType, by_bytes

NOISE = bytes(range(256)) * 40
MAGIC = [(row, magic) for row in MEDIA_TYPES for magic in row.magic]


def zipped(**members: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), text)
    return file.getvalue()


def begun(magic: Magic) -> bytes:
    raw = bytearray(NOISE)
    raw[:1] = b"\xf7"  # with which no magic begins
    for offset, mark in magic.marks:
        raw[offset : offset + len(mark)] = mark
    return bytes(raw)


@pytest.mark.parametrize(("row", "magic"), MAGIC, ids=[f"{row.name} {magic.marks}" for row, magic in MAGIC])
def test_all_magic_of_the_table_tells_its_own_type(row: MediaType, magic: Magic) -> None:
    assert by_bytes(begun(magic)) is row


@pytest.mark.parametrize(
    "text", ["BMW on auto", "ID3 on silt", "MZ tähendab", "PAR1 oli parim", "ORC ja päkapikk", "BZh"]
)
def test_short_magic_does_not_make_an_honest_text_binary(text: str) -> None:
    assert by_bytes(text.encode() * 50) is None


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"\n\njunk%PDF-1.4\n", "application/pdf"),
        (b"\0" * 1100 + b"%PDF-1.4\n", None),
        (b"RIFF\x24\0\0\0WEBPVP8 " + NOISE, "image/webp"),
        (b"RIFF\x24\0\0\0WAVEfmt " + NOISE, "audio/wav"),
        (b"XXXX\x24\0\0\0WAVEfmt " + NOISE, None),
        (b"\0\0\0\x18ftypavif" + NOISE, "image/avif"),
        (b"\0\0\0\x18ftypM4A " + NOISE, "audio/mp4"),
        (b"\0\0\0\x18ftypisom" + NOISE, "video/mp4"),
        (b"BM.txt".ljust(257, b"\0") + b"ustar\0" + NOISE, "application/x-tar"),
        (b"", None),
        (b"{}", None),
    ],
)
def test_marks_must_stand_where_they_belong_and_the_longest_counts(raw: bytes, name: str | None) -> None:
    row = by_bytes(raw)
    assert (row.name if row else None) == name


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        (zipped(a="x"), "ZIP archive"),
        (zipped(password__a="x", xl__a="x"), "ZIP archive"),
        (zipped(Content="x", word__document_dot_xml="x"), "Word document"),
        (zipped(Content="x" * 200_000, xl__workbook_dot_xml="x" * 200_000), "Excel workbook"),
        (zipped(ppt__presentation_dot_xml="x"), "PowerPoint slides"),
        (zipped(mimetype="application/vnd.oasis.opendocument.text", content="x"), "OpenDocument text"),
        (zipped(mimetype="application/epub+zip", word__document="x"), "EPUB book"),
        (zipped(a="x", mimetype="application/epub+zip"), "EPUB book"),
        (zipped(mimetype="something else"), "ZIP archive"),
        (zipped(doc_dot_kml="x"), "KMZ"),
        (zipped(AndroidManifest_dot_xml="x", **{"META-INF__MANIFEST_dot_MF": "x"}), "Android package"),
        (zipped(**{"META-INF__MANIFEST_dot_MF": "x"}), "Java archive"),
        (zipped(a="x", word__document_dot_xml="x" * 1000)[:500], "Word document"),  # its directory is cut off
        (b"PK\3\4" + b"x" * 20 + b"PK\5\6", "ZIP archive"),
    ],
)
def test_a_zip_is_what_its_members_make_it(raw: bytes, label: str) -> None:
    row = by_bytes(raw)
    assert row is not None
    assert row.label == label


def test_a_zip_with_more_members_than_are_looked_at_is_still_known_by_its_first() -> None:
    raw = zipped(xl__workbook_dot_xml="x", **{f"xl__worksheets__sheet{number}": "" for number in range(3_000)})
    row = by_bytes(raw)
    assert row is not None
    assert row.label == "Excel workbook"


def test_a_geopackage_is_told_from_other_databases(tmp_path: Path) -> None:
    for name, application, label in (("a", 0, "SQLite database"), ("b", 0x47504B47, "GeoPackage")):
        connection = sqlite3.connect(tmp_path / name)
        connection.execute(f"PRAGMA application_id = {application}")
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
        connection.close()
        row = by_bytes((tmp_path / name).read_bytes())
        assert row is not None
        assert row.label == label
