"""PDF: the text of its pages, hyphenated words joined, with what its metadata say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rehi.errors import Unreadable
from rehi.extract.body import Body
from rehi.extract.characters import clean, one_line
from rehi.extract.decode import repair
from rehi.extract.paragraphs import rejoin
from rehi.model.document import Document, Part

MAX_PAGES = 2_000

_MADE_FROM = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ", re.IGNORECASE)
_NO_TITLE = {"untitled", "(anonymous)", "title"}
_BROKEN_HYPHEN = re.compile("[\x02\ufffe]")  # PDFium's sign for a hyphen that a line break made; it eats the break
_METADATA = {"Author": "author", "Subject": "description", "Keywords": "keywords", "CreationDate": "date"}
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")


def read(body: Body) -> Document:
    """Read a PDF; one that is only pictures has an empty text."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body.raw)
    except pypdfium2.PdfiumError as error:
        reason = "it is encrypted" if "assword" in str(error) else f"not a whole PDF ({error})"
        raise Unreadable(reason) from error
    try:
        metadata = document.get_metadata_dict(skip_empty=True)
        text, parts = _join(_pages(document), body.max_text)
    except pypdfium2.PdfiumError as error:
        raise Unreadable(f"its pages can't be read ({error})") from error
    finally:
        document.close()
    title = _MADE_FROM.sub("", one_line(repair(metadata.get("Title", ""))))
    title = "" if title.lower() in _NO_TITLE else title
    return Document(
        media_type=body.media_type,
        text=text,
        title=title or one_line(body.file_name),
        metadata=tuple((_METADATA[key], _value(metadata[key])) for key in _METADATA if _value(metadata.get(key, ""))),
        parts=parts,
    )


def _join(pages: Iterable[tuple[str, str]], limit: int) -> tuple[str, tuple[Part, ...]]:
    """Return the text of all pages, parted by blank lines, until ``limit`` is reached, and the range of each page."""
    texts: list[str] = []
    parts: list[Part] = []
    length = 0
    for label, page in pages:
        if length >= limit:
            break
        if text := page.strip():
            start = length + (2 if texts else 0)
            length = start + len(text)
            texts.append(text)
            parts.append(Part(kind="page", title=label, start=start, end=length))
        else:  # only pictures, but a page all the same
            parts.append(Part(kind="page", title=label, start=length, end=length))
    return "\n\n".join(texts), tuple(parts)


def _pages(document: Any) -> Iterator[tuple[str, str]]:
    """Yield label and text of each page, as readers of PDF show them; one that can't be read is blank if another can."""
    import pypdfium2

    failed, count = 0, min(len(document), MAX_PAGES)
    for number in range(count):
        label = one_line(document.get_page_label(number)) or str(number + 1)
        try:
            yield label, _page_text(document, number)
        except pypdfium2.PdfiumError:
            failed += 1
            if failed == count:
                raise
            yield label, ""


def _page_text(document: Any, number: int) -> str:
    page = document[number]
    try:
        words = page.get_textpage()
        try:
            raw = words.get_text_range()
        finally:
            words.close()
    finally:
        page.close()
    return rejoin(clean(repair(_BROKEN_HYPHEN.sub("-\n", raw))), wrapped=True)


def _value(text: str) -> str:
    text = one_line(repair(text), 1000)
    if date := _DATE.match(text):
        return "-".join(part for part in date.groups() if part)
    return text
