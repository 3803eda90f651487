"""A line of a source: what all readers agree on."""

from __future__ import annotations

from rehi.model.source import Rejected

MAX_LINE = 65_536  # bytes; a longer one is no line of a log or a list
BOM = b"\xef\xbb\xbf"
BLANK = Rejected("blank")  # an empty line or a comment
LONG_LINE = f"the line is longer than {MAX_LINE:,} bytes"

_SHOWN = 200  # characters of a line that people get to see


def shorten(line: bytes) -> str:
    """Return a line's beginning, fit to be shown."""
    text = line[: _SHOWN * 4].decode("utf-8", "replace")[:_SHOWN]
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def is_blank(line: bytes) -> bool:
    """Whether a line is empty or a comment."""
    text = line.removeprefix(BOM).lstrip()
    return not text or text.startswith(b"#")
