"""What is known of media types, and how it is looked up. The decisions where tables disagreed stand at the end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import pytest

from rehi.archive.delta_writer import delta_may_pay
from rehi.extract import has_reader
from rehi.fetch.soft_404 import expects_file
from rehi.model.media import (
    MEDIA_TYPES,
    MediaGroup,
    MediaType,
    Syntax,
    bare_name,
    by_extension,
    by_format,
    by_name,
    may_be_page,
)
from rehi.operations.file_names import name_of_file
from rehi.sources.media import promise_of_type, promise_of_url
from tests.fetch.conftest import made_up

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def repeated(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def test_a_name_an_extension_and_a_label_belong_to_one_type() -> None:
    assert repeated(name for row in MEDIA_TYPES for name in (row.name, *row.aliases)) == []
    assert repeated(extension for row in MEDIA_TYPES for extension in row.extensions) == []
    assert repeated(row.label for row in MEDIA_TYPES) == []
    assert repeated(row.root for row in MEDIA_TYPES if row.root) == []
    assert repeated(str(member) for row in MEDIA_TYPES for member in row.members) == []


def test_what_people_call_a_type_is_no_extension_of_another() -> None:
    for row in MEDIA_TYPES:
        for text in (row.label, *row.formats):
            assert (by_extension(letters(text)) or row) is row
            assert by_format(text) in (row, None if row.group is MediaGroup.UNKNOWN else row)


@pytest.mark.parametrize("row", MEDIA_TYPES, ids=lambda row: row.name)
def test_every_row_is_written_as_it_is_looked_up(row: MediaType) -> None:
    assert re.fullmatch(r"[a-z]+/[a-z0-9][a-z0-9.+-]*", row.name)
    assert row.label.strip() == row.label != ""
    assert all(re.fullmatch(r"[a-z0-9]{1,8}", extension) for extension in row.extensions)
    assert all(alias == bare_name(alias) for alias in row.aliases)
    assert not (row.is_text and row.is_compressed)
    assert bool(row.members) <= (row.syntax is Syntax.ZIP)
    assert bool(row.root) <= (row.syntax is Syntax.XML)


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("Text/HTML; charset=utf-8", "text/html"),
        (" application/x-javascript ", "text/javascript"),
        ("text/xml;charset=x", "application/xml"),
        ("application/msexcel", "application/vnd.ms-excel"),
        ("application/x-zip-compressed", "application/zip"),
        ("application/vnd.ms-excel.sheet.macroEnabled.12", "application/vnd.ms-excel.sheet.macroenabled.12"),
        ("binary/octet-stream", "application/octet-stream"),
        ("application/x-new; x=y", "application/x-new"),
        ("", ""),
    ],
)
def test_a_type_is_known_by_any_of_its_names(declared: str, name: str) -> None:
    assert by_name(declared).name == name


@pytest.mark.parametrize(
    ("name", "group", "syntax", "is_compressed", "has_words"),
    [
        ("image/x-new", MediaGroup.IMAGE, Syntax.BINARY, True, False),
        ("image/x-new+xml", MediaGroup.IMAGE, Syntax.XML, False, False),
        ("application/vnd.new+json", MediaGroup.DATA, Syntax.JSON, False, True),
        ("application/oai+xml", MediaGroup.DATA, Syntax.XML, False, True),
        ("application/vnd.new+zip", MediaGroup.UNKNOWN, Syntax.ZIP, True, False),
        ("application/vnd.oasis.opendocument.formula", MediaGroup.DOCUMENT, Syntax.ZIP, True, True),
        ("text/x-new", MediaGroup.TEXT, Syntax.TEXT, False, True),
        ("message/partial", MediaGroup.MAIL, Syntax.TEXT, False, True),
        ("chemical/x-pdb", MediaGroup.MODEL, Syntax.BINARY, False, False),
        ("application/x-new", MediaGroup.UNKNOWN, Syntax.BINARY, False, False),
        ("text", MediaGroup.UNKNOWN, Syntax.BINARY, False, False),
        ("image/", MediaGroup.UNKNOWN, Syntax.BINARY, False, False),
    ],
)
def test_of_a_type_outside_the_table_the_name_tells_what_it_can(
    name: str, group: MediaGroup, syntax: Syntax, is_compressed: bool, has_words: bool
) -> None:
    row = by_name(name)
    assert (row.name, row.label) == (name, name)
    assert (row.group, row.syntax, row.is_compressed, row.has_words) == (group, syntax, is_compressed, has_words)


def test_an_extension_is_known_in_any_case() -> None:
    assert by_extension("CSV") is by_name("text/csv")
    assert by_extension("xlsx") is by_name(XLSX)
    assert by_extension("ee") is None
    assert by_extension("") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CSV", "text/csv"),
        (".csv", "text/csv"),
        ("text/csv; charset=utf-8", "text/csv"),
        ("XLS", "application/vnd.ms-excel"),
        ("Excel", "application/vnd.ms-excel"),
        ("MS Excel", "application/vnd.ms-excel"),
        ("Excel (.xlsx)", XLSX),
        ("shapefile", "application/vnd.shp"),
        ("ESRI Shapefile", "application/vnd.shp"),
        ("RDF/XML", "application/rdf+xml"),
        ("rdf_xml", "application/rdf+xml"),
        ("RDF-XML", "application/rdf+xml"),
        ("JSON-LD", "application/ld+json"),
        ("GeoJSON", "application/geo+json"),
        ("Turtle", "text/turtle"),
        ("MARC 21", "application/marc"),
        ("GeoTIFF", "image/tiff"),
        ("web page", "text/html"),
        ("CSV (zipped)", "application/zip"),
        ("ZIP:SHP", "application/zip"),
        ("https://www.iana.org/assignments/media-types/application/json", "application/json"),
        ("http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE", "text/turtle"),
        ("http://publications.europa.eu/resource/authority/file-type/XLSX", XLSX),
    ],
)
def test_a_format_is_known_as_portals_write_it(text: str, name: str) -> None:
    assert by_format(text) is by_name(name)


@pytest.mark.parametrize(
    "text", ["", "WMS", "API", "CSV/XLS", "application/octet-stream", "-", "https://x.test/", "???"]
)
def test_what_names_no_type_or_several_is_no_format(text: str) -> None:
    assert by_format(text) is None


def test_a_page_may_come_as_a_text_or_as_nothing() -> None:
    assert all(map(may_be_page, ("", "text/html;charset=x", "application/xhtml+xml", "text/plain")))
    assert not any(map(may_be_page, ("text/csv", "application/octet-stream", "application/xml")))


def test_a_general_type_tells_the_syntax_and_no_more() -> None:
    general = {row.name for row in MEDIA_TYPES if row.is_general}
    assert general == {
        "text/plain",
        "application/json",
        "application/xml",
        "application/zip",
        "application/octet-stream",
    }


# Decisions: what two tables said differently, or one of them wrongly.


def test_styles_and_scripts_under_any_name_hold_no_words() -> None:
    for declared in ("text/ecmascript", "application/x-ecmascript", "text/livescript", "text/css"):
        assert promise_of_type(declared) == "silent"
        assert not has_reader(by_name(declared).name)


def test_subtitles_hold_words_in_both_formats() -> None:
    for declared, extension in (("text/vtt", "vtt"), ("application/x-subrip", "srt")):
        assert promise_of_type(declared) == promise_of_url(f"http://x.test/a.{extension}") == "text"


def test_databases_are_tables_whatever_they_are_called() -> None:
    for extension in ("sqlite", "gpkg", "mdb", "dbf"):
        assert promise_of_url(f"http://x.test/a.{extension}") == "text"
        assert expects_file(f"http://x.test/a.{extension}", "")


def test_postscript_is_a_document_and_eps_an_image() -> None:
    assert (promise_of_url("http://x.test/a.ps"), promise_of_url("http://x.test/a.eps")) == ("text", "silent")
    assert by_name("application/postscript").group is MediaGroup.DOCUMENT
    assert by_name("application/eps").group is MediaGroup.IMAGE


@pytest.mark.parametrize(
    "declared", ["image/tiff", "image/bmp", "audio/wav", "audio/midi", "font/ttf", "application/x-tar", "image/svg+xml"]
)
def test_what_is_not_compressed_by_its_kind_is_compressed_in_a_zip_and_tried_as_a_delta(declared: str) -> None:
    assert not by_name(declared).is_compressed
    assert delta_may_pay(made_up(b"x", media_type=declared))


@pytest.mark.parametrize(
    "declared",
    ["application/x-zip-compressed", "application/x-rar", "application/x-tgz", "application/font-woff", "video/x-new"],
)
def test_what_is_compressed_under_any_name_is_stored_and_kept_whole(declared: str) -> None:
    assert by_name(declared).is_compressed
    assert not delta_may_pay(made_up(b"x", media_type=declared))


@pytest.mark.parametrize("declared", [XLSX, "application/vnd.oasis.opendocument.text", "application/epub+zip"])
def test_documents_that_are_compressed_part_by_part_are_stored_in_a_zip_but_tried_as_a_delta(declared: str) -> None:
    assert by_name(declared).is_compressed
    assert delta_may_pay(made_up(b"x", media_type=declared))


@pytest.mark.parametrize(
    ("declared", "extension"),
    [
        ("application/rss+xml", "rss"),
        ("application/geo+json", "geojson"),
        ("application/ld+json", "jsonld"),
        ("application/xhtml+xml", "xhtml"),
        ("text/xml", "xml"),
        ("image/jpg", "jpg"),
        ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
        ("application/x-new", "bin"),
        ("", "bin"),
    ],
)
def test_a_file_gets_the_extension_of_its_own_type(declared: str, extension: str) -> None:
    assert name_of_file("http://x.test/", declared) == f"index.{extension}"


@pytest.mark.parametrize("extension", ["csv", "svg", "rss", "webm", "mdb", "warc", "vcf", "yaml", "asice"])
def test_a_url_that_ends_in_any_file_of_data_or_media_should_bring_it(extension: str) -> None:
    assert expects_file(f"http://x.test/a.{extension}", "")


@pytest.mark.parametrize("extension", ["html", "php", "txt", "md", "js", "exe", "woff", "ee", "bin"])
def test_a_url_that_ends_in_a_text_or_a_program_may_show_a_page(extension: str) -> None:
    assert not expects_file(f"http://x.test/a.{extension}", "")
