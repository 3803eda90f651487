"""An expected file: a URL that should bring a file and not a web page, by its name or by what it brought before."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from rehi.model.visit import Answer

_FILES = frozenset(
    [
        *("csv", "tsv", "tab", "xls", "xlsx", "xlsm", "xlsb", "ods", "px", "sav", "dta", "parquet", "sqlite"),
        *(
            "json",
            "jsonl",
            "ndjson",
            "geojson",
            "topojson",
            "xml",
            "rdf",
            "ttl",
            "nt",
            "nq",
            "n3",
            "trig",
            "jsonld",
            "owl",
        ),
        *("gml", "kml", "kmz", "gpx", "shp", "gpkg", "tif", "tiff", "dwg"),
        *("zip", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "tar"),
        *("pdf", "doc", "docx", "odt", "rtf", "ppt", "pptx", "odp", "epub"),
        *("jpg", "jpeg", "png", "gif", "webp", "mp3", "mp4", "ogg", "wav", "ics", "asice", "bdoc", "ddoc"),
    ]
)
# Pages about files, under the files' names: code hosts, wikis and viewers.
_SHOWN = frozenset(["blob", "tree", "wiki", "view", "viewer", "preview", "show", "details"])
_PAGES = ("", "text/html", "application/xhtml+xml", "text/plain")
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b")
PAGE_BYTES = 4_096  # of a body's beginning, which show whether it is a web page


def expects_file(url: str, media_type_before: str) -> bool:
    """Whether a URL should bring a file: decided by what it brought before, or by its name if it brought nothing yet."""
    before = _bare(media_type_before)
    if before:
        return before not in _PAGES
    *folders, name = urlsplit(url).path.lower().split("/")
    if ":" in name or not _SHOWN.isdisjoint(folders):
        return False
    return name.rpartition(".")[2] in _FILES and "." in name


def is_wrong_type(answer: Answer, *, url: str, media_type_before: str) -> bool:
    """Whether a web page came where a file was expected. The body is left at its start."""
    if not 200 <= answer.status < 300 or not expects_file(url, media_type_before):
        return False
    answer.body.seek(0)
    beginning = answer.body.read(PAGE_BYTES)
    answer.body.seek(0)
    return is_page(beginning, declared=answer.header("Content-Type"))


def is_page(beginning: bytes, *, declared: str) -> bool:
    """Whether a body that begins so is a web page. The declared type alone does not decide: many servers declare all as HTML."""
    kind = _bare(declared)
    if kind.endswith("xml") and kind not in _PAGES:  # a page can be meant as XML, and say so
        return False
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    while text.startswith((b"<!--", b"<?xml")):
        text = text.partition(b"-->" if text.startswith(b"<!--") else b">")[2].lstrip()
    return _HTML.match(text) is not None


def _bare(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
