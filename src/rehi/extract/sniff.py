"""Sniffing: the true media type, by what the bytes look like before what anybody says of them."""

from __future__ import annotations

import re

from rehi.extract.body import bare_type, file_name
from rehi.extract.csv import find_delimiter
from rehi.extract.decode import wide_charset
from rehi.extract.magic import is_binary, magic_type

_PEEK = 65_536  # bytes
_PARSE = 1_000_000  # bytes of undeclared JSON that are parsed to be sure

_HTML = {"text/html", "application/xhtml+xml"}
_XML = {"application/xml", "text/xml"}
_JSON = {"application/json", "text/json", "application/x-ndjson", "application/jsonl"}
_CSV = {"text/csv", "application/csv", "text/comma-separated-values", "text/tab-separated-values"}
_EXCEL = {"application/vnd.ms-excel", "application/excel", "application/x-msexcel"}  # what servers call CSV files
_SCRIPTS = {"css": "text/css", "js": "text/javascript", "mjs": "text/javascript"}
_SCRIPT_TYPES = {"text/css", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript"}
_JSON_ENDINGS = {"json", "geojson", "jsonld", "jsonl", "ndjson", "topojson"}
_ROOTS = {"svg": "image/svg+xml", "rss": "application/rss+xml", "feed": "application/atom+xml"}
_HTML_TAG = re.compile(
    r"a|article|b|base|body|br|center|div|font|form|frameset|h[1-6]|head|header|hr|i|iframe|img|link|main|meta|nav|"
    r"noscript|ol|p|pre|script|section|small|span|strong|style|table|tbody|td|title|tr|ul"
)
_PROLOGUE = re.compile(r"\s*(?:<\?.{0,2000}?\?>|<!--.{0,20000}?-->)", re.DOTALL)
_DOCTYPE = re.compile(r"\s*<!doctype\s+([\w:.-]+)[^>\[]{0,1000}(?:\[.{0,20000}?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_ROOT = re.compile(r"\s*<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)(?=[\s>/])([^>]{0,4000})")
_HTML_AMID = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_ANY_TAG = re.compile(
    r"</?(?:[abip]|br|div|h[1-6]|li|td|span|table|font|strong|em|meta|title)(?:\s[^<>]*)?>|&\w{2,8};", re.I
)
_JSON_START = re.compile(r'\s*(?:\{\s*["}]|\[\s*(?:["\[{\]\d-]|true|false|null))')
_DECLARED_TEXT = re.compile(r"text/[a-z0-9][a-z0-9.+-]{0,60}")


def sniff(raw: bytes, *, declared: str, url: str) -> str:
    """The true media type of a body; ``application/octet-stream`` when it is none that we know."""
    said = bare_type(declared)
    if found := magic_type(raw):
        return found
    head = _peek(raw)
    if head is None:
        return "application/octet-stream"
    ending = file_name(url).rpartition(".")[2].lower()
    return (
        _markup(head, said, ending)
        or _json(raw, head, said, ending)
        or _late_markup(head)
        or _table(head, said, ending)
        or _fragment(head, said)
        or _script(said, ending)
        or _text(said)
    )


def _peek(raw: bytes) -> str | None:
    """The first characters, one per byte where that is enough to look at; None for what is no text."""
    sample = raw[:_PEEK]
    if wide := wide_charset(sample):
        return sample.decode(wide, "replace").lstrip("\ufeff")
    if is_binary(sample):
        return None
    return sample.removeprefix(b"\xef\xbb\xbf").decode("latin-1")


def _markup(head: str, said: str, ending: str) -> str:
    """HTML or a kind of XML, if the text begins as one."""
    rest = head
    while found := _PROLOGUE.match(rest):
        rest = rest[found.end() :]
    declared_xml = head.lstrip()[:5].lower() == "<?xml"
    if (doctype := _DOCTYPE.match(rest)) is not None:
        rest = rest[doctype.end() :]
        if doctype[1].lower() == "html":
            return _html(said, declared_xml)
    root = _ROOT.match(rest)
    if root is None:
        return "application/xml" if declared_xml and said not in _HTML else ""
    prefix, name, attributes = (root[1] or "").lower(), root[2].lower(), root[3]
    if name == "html" or (name in {"head", "body"} and not attributes):
        return _html(said, declared_xml)
    if _HTML_TAG.fullmatch(name) and not declared_xml and "xmlns" not in attributes and not _is_xml(said):
        return "text/html"
    return _xml(prefix, name, attributes, said) if _speaks_xml(head, said, ending, declared_xml, attributes) else ""


def _speaks_xml(head: str, said: str, ending: str, declared_xml: bool, attributes: str) -> bool:
    if declared_xml or _is_xml(said) or "xmlns" in attributes or "<rss" in head[:200]:
        return True
    return said not in _HTML and (ending in {"xml", "rss", "rdf", "atom"} or "</" in head)


def _xml(prefix: str, name: str, attributes: str, said: str) -> str:
    if name == "rdf" and prefix:
        return "application/rss+xml" if "purl.org/rss" in attributes else "application/rdf+xml"
    if name in _ROOTS and (name != "feed" or "Atom" in attributes or not prefix):
        return _ROOTS[name]
    return said if said.endswith("+xml") and said not in _HTML and said not in _ROOTS.values() else "application/xml"


def _is_xml(said: str) -> bool:
    return said in _XML or (said.endswith("+xml") and said not in _HTML)


def _html(said: str, declared_xml: bool) -> str:
    strict = said == "application/xhtml+xml" or (declared_xml and said not in _HTML)
    return "application/xhtml+xml" if strict else "text/html"


def _json(raw: bytes, head: str, said: str, ending: str) -> str:
    expected = said in _JSON or said.endswith("+json") or ending in _JSON_ENDINGS
    if not _JSON_START.match(head):
        return "application/json" if said in _JSON and _parses(raw) else ""
    if not expected and not _parses(raw) and not head.lstrip().startswith('{"'):
        return ""
    if ending in {"jsonl", "ndjson"} or said in {"application/x-ndjson", "application/jsonl"}:
        return "application/x-ndjson"
    return said if said.endswith("+json") else "application/json"


def _parses(raw: bytes) -> bool:
    import orjson

    if len(raw) > _PARSE:
        return False
    try:
        orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return False
    return True


def _table(head: str, said: str, ending: str) -> str:
    if said not in _CSV | _EXCEL and ending not in {"csv", "tsv", "tab"}:
        return ""
    delimiter = find_delimiter(head)
    if not delimiter and said not in _CSV:
        return ""
    return "text/tab-separated-values" if delimiter == "\t" else "text/csv"


def _late_markup(head: str) -> str:
    """A page behind a warning that some program printed first."""
    return "text/html" if _HTML_AMID.search(head[:4000]) else ""


def _fragment(head: str, said: str) -> str:
    return "text/html" if said in _HTML and _ANY_TAG.search(head) else ""


def _script(said: str, ending: str) -> str:
    if said in _SCRIPT_TYPES:
        return said
    return _SCRIPTS.get(ending, "") if not said.startswith("text/h") else ""


def _text(said: str) -> str:
    plain = not _DECLARED_TEXT.fullmatch(said) or said in _HTML | _XML | _JSON | _CSV
    return "text/plain" if plain else said
