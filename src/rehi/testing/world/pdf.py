"""A PDF file: pages of wrapped lines in Helvetica, written by hand."""

from __future__ import annotations

import textwrap
import zlib
from collections.abc import Sequence

_LINES_PER_PAGE = 46
_COLUMNS = 82  # of 11-point Helvetica between the margins of A4


def write_pdf(title: str, paragraphs: Sequence[str], *, compressed: bool) -> bytes:
    """Return a PDF file with a cross-reference table, WinAnsi text and as many pages as needed."""
    lines = [title, ""]
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, _COLUMNS, break_on_hyphens=False), ""]
    pages = [lines[at : at + _LINES_PER_PAGE] for at in range(0, len(lines), _LINES_PER_PAGE)]
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title " + _literal(title) + b" /Producer (rehi practice web) >>",
    ]
    for number, page in enumerate(pages):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            + f"/Contents {6 + 2 * number} 0 R >>".encode()
        )
        objects.append(_stream(page, compressed=compressed))
    return _assemble(objects)


def _literal(text: str) -> bytes:
    raw = text.encode("cp1252")
    return b"(" + raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"


def _stream(lines: Sequence[str], *, compressed: bool) -> bytes:
    shown = b"".join(_literal(line) + b" Tj T*\n" for line in lines)
    content = b"BT /F1 11 Tf 15 TL 56 786 Td\n" + shown + b"ET"
    filters = b""
    if compressed:
        content = zlib.compress(content)
        filters = b"/Filter /FlateDecode "
    return b"<< " + filters + f"/Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def _assemble(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\n".encode()
    return bytes(out) + f"startxref\n{table}\n%%EOF\n".encode()
