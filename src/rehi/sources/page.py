"""A page: a single URL, given by itself. Whatever lies at a URL and is no other kind of source is one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rehi.errors import SourceError
from rehi.model.source import Finding, Source
from rehi.sources.kind import NOT_AT_ALL, Discovered, Fetch, Recognition, SourceSample
from rehi.sources.lines import BOM
from rehi.sources.urls import is_visitable, normalise

_DOCUMENT = 0.9  # surer than a list whose every line names a URL
_ANYTHING = 0.1
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


class SinglePage:
    """The kind of source that is one page."""

    title = "page"
    unit = "pages"

    def recognise(self, sample: SourceSample) -> Recognition:
        """Return what a document is; of a file on this machine only XML, HTML and JSON, which are no lists of URLs."""
        if looks_like_document(sample.start):
            return Recognition(_DOCUMENT, name_document(sample.start))
        return NOT_AT_ALL if sample.is_local else Recognition(_ANYTHING, "a page")

    def discover(self, source: Source, cursor: bytes, fetch: Fetch) -> Iterator[Discovered]:
        """Yield the page itself."""
        if cursor:
            return
        url = normalise(source.location or source.name)
        if url is None or not is_visitable(url):
            raise SourceError(f"{source.name} is not a URL that can be visited")
        yield Discovered([Finding(url)], b"1", 1.0)


KIND = SinglePage()


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
