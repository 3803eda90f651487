"""Plain text, its lines joined to paragraphs again."""

from __future__ import annotations

from rehi.extract.body import Body
from rehi.extract.characters import clean, one_line
from rehi.extract.decode import decode
from rehi.extract.paragraphs import rejoin
from rehi.model.document import Document

_TITLE = 150  # characters; a longer first line is a paragraph, not a title


def read(body: Body) -> Document:
    """Read a text; its title is its first line if that is short, else the name of the file."""
    # Four bytes to a character at most; the rest could not be used.
    decoded = decode(body.raw[: body.max_text * 4], declared=body.charset)
    text = clean(decoded.text[: body.max_text])
    first = text.strip()[: _TITLE * 2].partition("\n")[0].strip()
    return Document(
        media_type=body.media_type,
        text=rejoin(text),
        title=one_line(first if 0 < len(first) <= _TITLE else body.file_name),
        charset=decoded.charset,
    )
