"""An expected file: a URL that should bring a file and not a web page, by its name or by what it brought before."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from rehi.model.media import MediaGroup, Syntax, bare_name, by_extension, by_name, may_be_page
from rehi.model.visit import Answer

# What a URL with such a name may well show a page about: a text, a program that can be downloaded.
_SHOWN_AS_PAGES = frozenset(
    {MediaGroup.PAGE, MediaGroup.TEXT, MediaGroup.CODE, MediaGroup.PROGRAM, MediaGroup.FONT, MediaGroup.SIGNATURE}
) | {MediaGroup.UNKNOWN}
# Pages about files, under the files' names: code hosts, wikis and viewers.
_SHOWN = frozenset(["blob", "tree", "wiki", "view", "viewer", "preview", "show", "details"])
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b")
PAGE_BYTES = 4_096  # of a body's beginning, which show whether it is a web page


def expects_file(url: str, media_type_before: str) -> bool:
    """Whether a URL should bring a file: decided by what it brought before, or by its name if it brought nothing yet."""
    if bare_name(media_type_before):
        return not may_be_page(media_type_before)
    *folders, name = urlsplit(url).path.lower().split("/")
    if ":" in name or not _SHOWN.isdisjoint(folders):
        return False
    row = by_extension(name.rpartition(".")[2]) if "." in name else None
    return row is not None and row.group not in _SHOWN_AS_PAGES


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
    if by_name(declared).syntax is Syntax.XML:  # a page can be meant as XML, and say so
        return False
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    while text.startswith((b"<!--", b"<?xml")):
        text = text.partition(b"-->" if text.startswith(b"<!--") else b">")[2].lstrip()
    return _HTML.match(text) is not None
