"""A format: how a text or a register is written, as plain text, CSV, JSON, XML, RSS or PDF."""

from __future__ import annotations

import csv
import io
import json
from enum import StrEnum
from xml.sax.saxutils import escape

from rehi.model.media import by_extension
from rehi.testing.world.charsets import Charset
from rehi.testing.world.pdf import write_pdf
from rehi.testing.world.texts import Text

_DELIMITERS = (";", ",", "\t")


class Format(StrEnum):
    """The formats of documents. The value is the file's extension."""

    HTML = "html"
    TEXT = "txt"
    CSV = "csv"
    JSON = "json"
    XML = "xml"
    RSS = "rss"
    PDF = "pdf"

    @property
    def media_type(self) -> str:
        """The media type that an honest server declares."""
        row = by_extension(self.value)
        assert row is not None
        return row.name


def render(text: Text, form: Format, charset: Charset, *, url: str, variant: int) -> bytes:
    """Return a text as bytes of any format but HTML; ``variant`` picks delimiter, escaping and compression."""
    if form is Format.PDF:
        return write_pdf(text.title, _paragraphs(text), compressed=variant % 2 == 0)
    if form is Format.CSV:
        return charset.encode(_csv(text, _DELIMITERS[variant % 3]))
    if form is Format.JSON:
        return _json(text, url=url, escaped=variant % 3 == 0)
    if form is Format.XML:
        return charset.encode(_prolog(charset) + _xml(text))
    if form is Format.RSS:
        return charset.encode(_prolog(charset) + _rss(text, url=url))
    return charset.encode("\n\n".join([text.title, *_paragraphs(text)]) + "\n")


def _paragraphs(text: Text) -> tuple[str, ...]:
    return text.paragraphs or tuple(", ".join(row) for row in text.rows)


def _csv(text: Text, delimiter: str) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(text.rows)
    return out.getvalue()


def _json(text: Text, *, url: str, escaped: bool) -> bytes:
    estonian = text.language == "et"
    body: object
    if text.rows:
        header, *rows = text.rows
        body = [dict(zip(header, row, strict=True)) for row in rows]
    else:
        body = [{"nr": number, "sisu" if estonian else "content": p} for number, p in enumerate(text.paragraphs, 1)]
    document = {
        "id": url,
        "pealkiri" if estonian else "title": text.title,
        "meta": {"keel" if estonian else "language": text.language, "avalik" if estonian else "public": True},
        "andmed" if estonian else "data": {"osad" if estonian else "parts": body},
    }
    return json.dumps(document, ensure_ascii=escaped, indent=None if escaped else 2).encode()


def _prolog(charset: Charset) -> str:
    named = f' encoding="{charset.in_document}"' if charset.in_document else ""
    return f'<?xml version="1.0"{named}?>\n'


def _xml(text: Text) -> str:
    root, title, part = ("dokument", "pealkiri", "lõik") if text.language == "et" else ("document", "heading", "part")
    parts = "".join(f"  <{part}>{escape(p)}</{part}>\n" for p in text.paragraphs)
    if text.rows:
        header, *rows = text.rows
        fields = [name.lower().replace(" ", "-") for name in header]
        for row in rows:
            cells = "".join(f"<{f}>{escape(cell)}</{f}>" for f, cell in zip(fields, row, strict=True))
            parts += f"  <{part}>{cells}</{part}>\n"
    return f'<{root} xml:lang="{text.language}">\n  <{title}>{escape(text.title)}</{title}>\n{parts}</{root}>\n'


def _rss(text: Text, *, url: str) -> str:
    items = "".join(
        f"<item><title>{escape(' '.join(p.split()[:5]))} …</title><link>{escape(url)}#{number}</link>"
        f'<guid isPermaLink="false">{escape(url)}#{number}</guid><description>{escape(p)}</description></item>\n'
        for number, p in enumerate(_paragraphs(text), 1)
    )
    return (
        f'<rss version="2.0"><channel><title>{escape(text.title)}</title><link>{escape(url)}</link>'
        f"<description>{escape(text.title)}</description><language>{text.language}</language>\n{items}</channel></rss>\n"
    )
