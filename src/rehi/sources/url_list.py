"""A plain list of URLs, one on each line.

Empty lines, lines that begin with #, and a first line with the names of columns are passed over. A line without blanks or quotes is one URL, commas and all.
In others the first field that is a URL counts, so that a column of a table will do; a URL amid a sentence is no field.
An address without a scheme (``www.example.ee/news``) gets ``http://`` when it stands first, or after a number as in
rankings.

A list is what a person asked for: unlike in a crawl log, no type is turned away. So what lies at a URL is a list only if its
declared type says so, or if the person said it: a text that somebody else has written there never decides what is visited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rehi.model.media import bare_name
from rehi.model.source import Entry, Finding, Malformed, Rejected, Source
from rehi.sources.kind import NOT_AT_ALL, Discovered, Fetch, Recognition, SourceSample
from rehi.sources.lines import BOM, HEADER, LONG_LINE, MAX_LINE, discover_lines, pass_over, shorten
from rehi.sources.media import EXTENSIONS
from rehi.sources.page import looks_like_document
from rehi.sources.urls import decode_url, is_visitable, normalise

_DNS = Rejected("dns")
_SCHEME = Rejected("scheme")

_WEB = re.compile(r"https?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]{1,30}:\S", re.IGNORECASE)
_BARE = re.compile(r"(?:[\w-]{1,63}\.){1,30}(?P<top>[^\W\d_]{2,63}|xn--[a-z0-9-]{1,59})(?::\d{1,5})?(?P<path>[/?]\S*)?")
_QUOTES_OR_BLANKS = re.compile(r"[\s\"'<>]")
_SEPARATORS = (re.compile(r"[\t,|\"'<>]+"), re.compile(r"[\t,;|\"'<>]+"))
_FIELDS = re.compile(r"[\t,;|\"']+")
# What people call the column of the URLs.
_COLUMNS = frozenset(
    ("url", "urls", "uri", "link", "href", "address", "location", "loc", "domain", "host", "hostname", "site", "website",
     "page", "aadress", "veebiaadress", "koduleht", "domeen", "leht")
)  # fmt: skip

DECLARED = "text/uri-list"
_ARC = b"filedesc:"  # with which an ARC file begins: the heads of its records name URLs, however damaged it is
_LEAST_SHARE = 0.2  # prose mentions a URL here and there; a list may have a heading and a few slips


class UrlList:
    """The kind of source that is a list of URLs."""

    title = "list of URLs"
    unit = "lines"

    def recognise(self, sample: SourceSample) -> Recognition:
        """Return how many of the first lines name a page; a document in a markup language is no list, whatever it names."""
        if not sample.lines or looks_like_document(sample.start) or sample.start.lstrip().startswith(_ARC):
            return NOT_AT_ALL
        if not sample.is_local and bare_name(sample.media_type) != DECLARED:
            return NOT_AT_ALL
        urls = [line for line in sample.lines if len(line) <= MAX_LINE and isinstance(_judge(line), Finding)]
        share = len(urls) / len(sample.lines)
        return Recognition(0.2 + 0.6 * share, "a list of URLs") if share >= _LEAST_SHARE else NOT_AT_ALL

    def discover(self, source: Source, cursor: bytes, fetch: Fetch) -> Iterator[Discovered]:
        """Yield an entry for each line after those that the cursor counts."""
        return discover_lines(source, cursor, fetch, read_url_list)


KIND = UrlList()


def read_url_list(lines: Iterable[bytes], before: int = 0) -> Iterator[Entry]:
    """Yield an entry for each line; ``before`` is the number of lines that came before them."""
    may_be_header = not before
    for number, line in enumerate(lines, before + 1):
        if silent := pass_over(line):
            yield silent
            continue
        if len(line) > MAX_LINE:
            yield Malformed(number, shorten(line), LONG_LINE)
        elif entry := _judge(line):
            yield entry
        elif may_be_header and _is_header(line):
            yield HEADER
        else:
            yield Malformed(number, shorten(line.removeprefix(BOM).strip()), "no URL in this line")
        may_be_header = False


def _is_header(line: bytes) -> bool:
    """Whether a line without a URL has the names of columns, and one of them is a name for URLs."""
    text = line.removeprefix(BOM).decode("utf-8", "replace").lower()
    return any(field.strip() in _COLUMNS for field in _FIELDS.split(text))


def _judge(line: bytes) -> Finding | Rejected | None:
    text = decode_url(line.removeprefix(BOM).strip())
    url = _find(text)
    if url is not None:
        return Finding(url)
    if not _OTHER_SCHEME.match(text):
        return None
    return _DNS if text.startswith("dns:") else _SCHEME


def _find(text: str) -> str | None:
    if not _QUOTES_OR_BLANKS.search(text) and (url := _visitable(text, bare=True)):
        return url
    for separators in _SEPARATORS:
        fields = [field.strip() for field in separators.split(text) if field.strip()]
        first = next((at for at, field in enumerate(fields) if not field.isdecimal()), 0)
        for at, field in enumerate(fields):
            if url := _visitable(field.split()[0] if at == first else field, bare=at == first):
                return url
    return None


def _visitable(field: str, *, bare: bool) -> str | None:
    if not _WEB.match(field) or " " in field:
        match = _BARE.fullmatch(field) if bare else None
        # An address without its scheme does not look like the name of a file (.pl is Poland, though).
        if match is None or (not match["path"] and len(match["top"]) != 2 and match["top"].lower() in EXTENSIONS):
            return None
        field = f"http://{field}"
    url = normalise(field)
    return url if url is not None and is_visitable(url) else None
