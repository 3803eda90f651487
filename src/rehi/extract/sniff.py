"""Sniffing: the true media type, by what the bytes look like before what anybody says of them."""

from __future__ import annotations

import re

from rehi.extract.body import file_name
from rehi.extract.csv import find_delimiter
from rehi.extract.decode import wide_charset
from rehi.model.media import MEDIA_TYPES, UNKNOWN, MediaType, Syntax, by_bytes, by_name, is_binary

_PEEK = 65_536  # bytes
_PARSE = 1_000_000  # bytes of undeclared JSON that are parsed to be sure

_CSV, _TSV = "text/csv", "text/tab-separated-values"
_TABLES = frozenset({_CSV, _TSV})
_EXCEL = "application/vnd.ms-excel"  # what servers call CSV files
_SCRIPTS = frozenset({"text/css", "text/javascript"})
_TABLE_ENDINGS = frozenset(ending for name in _TABLES for ending in by_name(name).extensions)
_SCRIPT_ENDINGS = {ending: name for name in _SCRIPTS for ending in by_name(name).extensions}
_JSON_ENDINGS = frozenset(ending for row in MEDIA_TYPES if row.syntax is Syntax.JSON for ending in row.extensions)
_XML_ENDINGS = frozenset(ending for row in MEDIA_TYPES if row.syntax is Syntax.XML for ending in row.extensions)
_JSON_LINES = by_name("application/x-ndjson")
_ROOTS = {row.root: row.name for row in MEDIA_TYPES if row.root}
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
    """Return the true media type of a body; ``application/octet-stream`` when it is none that we know."""
    head = _peek(raw)
    if (proven := by_bytes(raw)) is not None:
        return proven.name
    if head is None:
        return UNKNOWN.name
    claim = by_name(declared)
    ending = file_name(url).rpartition(".")[2].lower()
    return (
        _markup(head, claim, ending)
        or _json(raw, head, claim, ending)
        or _late_markup(head)
        or _table(head, claim, ending)
        or _fragment(head, claim)
        or _script(claim, ending)
        or _text(claim)
    )


def _peek(raw: bytes) -> str | None:
    """Return the first characters, one per byte where that is enough to look at; None for what is no text."""
    sample = raw[:_PEEK]
    if wide := wide_charset(sample):
        return sample.decode(wide, "replace").lstrip("\ufeff")
    if is_binary(sample):
        return None
    return sample.removeprefix(b"\xef\xbb\xbf").decode("latin-1")


def _markup(head: str, claim: MediaType, ending: str) -> str:
    """Return HTML or a kind of XML, if the text begins as one."""
    rest = head
    while prologue := _PROLOGUE.match(rest):
        rest = rest[prologue.end() :]
    declared_xml = head.lstrip()[:5].lower() == "<?xml"
    if (doctype := _DOCTYPE.match(rest)) is not None:
        rest = rest[doctype.end() :]
        if doctype[1].lower() == "html":
            return _html(claim, declared_xml)
    root = _ROOT.match(rest)
    if root is None:
        return "application/xml" if declared_xml and claim.syntax is not Syntax.HTML else ""
    prefix, name, attributes = (root[1] or "").lower(), root[2].lower(), root[3]
    if name == "html" or (name in {"head", "body"} and not attributes):
        return _html(claim, declared_xml)
    if _HTML_TAG.fullmatch(name) and not declared_xml and "xmlns" not in attributes and claim.syntax is not Syntax.XML:
        return "text/html"
    return _xml(prefix, name, attributes, claim) if _speaks_xml(head, claim, ending, declared_xml, attributes) else ""


def _speaks_xml(head: str, claim: MediaType, ending: str, declared_xml: bool, attributes: str) -> bool:
    if declared_xml or claim.syntax is Syntax.XML or "xmlns" in attributes or "<rss" in head[:200]:
        return True
    return claim.syntax is not Syntax.HTML and (ending in _XML_ENDINGS or "</" in head)


def _xml(prefix: str, name: str, attributes: str, claim: MediaType) -> str:
    if name == "rdf" and prefix:
        return "application/rss+xml" if "purl.org/rss" in attributes else "application/rdf+xml"
    if name in _ROOTS and (name != "feed" or "Atom" in attributes or not prefix):
        return _ROOTS[name]
    return claim.name if claim.syntax is Syntax.XML and not claim.root else "application/xml"


def _html(claim: MediaType, declared_xml: bool) -> str:
    strict = claim.name == "application/xhtml+xml" or (declared_xml and claim.syntax is not Syntax.HTML)
    return "application/xhtml+xml" if strict else "text/html"


def _json(raw: bytes, head: str, claim: MediaType, ending: str) -> str:
    claimed = claim.syntax is Syntax.JSON
    expected = claimed or ending in _JSON_ENDINGS
    if not _JSON_START.match(head):
        return "application/json" if claimed and _parses(raw) else ""
    if not expected and not _parses(raw) and not head.lstrip().startswith('{"'):
        return ""
    if ending in _JSON_LINES.extensions or claim is _JSON_LINES:
        return _JSON_LINES.name
    return claim.name if claimed else "application/json"


def _parses(raw: bytes) -> bool:
    import orjson

    if len(raw) > _PARSE:
        return False
    try:
        orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return False
    return True


def _table(head: str, claim: MediaType, ending: str) -> str:
    claimed = claim.name in _TABLES
    if not claimed and claim.name != _EXCEL and ending not in _TABLE_ENDINGS:
        return ""
    delimiter = find_delimiter(head)
    if not delimiter and not claimed:
        return ""
    return _TSV if delimiter == "\t" else _CSV


def _late_markup(head: str) -> str:
    """Return HTML if there is a page behind a warning that some program printed first."""
    return "text/html" if _HTML_AMID.search(head[:4000]) else ""


def _fragment(head: str, claim: MediaType) -> str:
    return "text/html" if claim.syntax is Syntax.HTML and _ANY_TAG.search(head) else ""


def _script(claim: MediaType, ending: str) -> str:
    if claim.name in _SCRIPTS:
        return claim.name
    return _SCRIPT_ENDINGS.get(ending, "") if claim.syntax is not Syntax.HTML else ""


def _text(claim: MediaType) -> str:
    """Return the declared kind of text, if it is one that need not show in the first characters."""
    plain = claim.syntax is not Syntax.TEXT or claim.name in _TABLES or not _DECLARED_TEXT.fullmatch(claim.name)
    return "text/plain" if plain else claim.name
