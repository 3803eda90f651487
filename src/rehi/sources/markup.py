"""Markup: documents that mention URLs without being lists of them, told by their first characters."""

from __future__ import annotations

import re

from rehi.sources.line import BOM

_TAG = re.compile(rb"<(?:[!?]|(?!https?:)[A-Za-z][\w:-]*[\s>/])")
_JSON = re.compile(rb"\{\s*[\"}]|\[\s*[\"{\[\]\d]")
_COMMENT = re.compile(rb"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>)", re.DOTALL | re.IGNORECASE)
_ROOT = re.compile(rb"\s*<(?:[\w-]+:)?([A-Za-z][\w-]*)")
_NAMED = {
    "urlset": "a sitemap",
    "sitemapindex": "an index of sitemaps",
    "rss": "an RSS feed",
    "feed": "an Atom feed",
    "rdf": "an RDF document or feed",
    "opml": "a list of feeds (OPML)",
    "html": "an HTML page",
}


def looks_like_document(start: bytes) -> bool:
    """Return whether something that begins so is XML, HTML or JSON."""
    text = start.removeprefix(BOM).lstrip()
    return _TAG.match(text) is not None or _JSON.match(text) is not None


def name_document(start: bytes) -> str:
    """Return what a document in XML, HTML or JSON is, in words."""
    text = start.removeprefix(BOM).lstrip()
    if _JSON.match(text):
        return "a JSON document"
    is_html = re.match(rb"<!doctype\s+html\b", text, re.IGNORECASE) is not None
    while (prologue := _COMMENT.match(text)) is not None:
        text = text[prologue.end() :]
    root = _ROOT.match(text)
    name = root[1].decode("ascii").lower() if root else ""
    return "an HTML page" if is_html else _NAMED.get(name, "an XML document")
