"""A page: a single URL, given by itself. Whatever lies at a URL and is no other kind of source is one."""

from __future__ import annotations

from collections.abc import Iterator

from rehi.errors import SourceError
from rehi.model.source import Finding, Source
from rehi.sources.kind import NOT_AT_ALL, Discovered, Fetch, Recognition, SourceSample
from rehi.sources.markup import looks_like_document, name_document
from rehi.sources.urls import is_visitable, normalise

_DOCUMENT = 0.9  # surer than a list whose every line names a URL
_ANYTHING = 0.1


class SinglePage:
    """The kind of source that is one page."""

    title = "page"
    unit = "lines"

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
