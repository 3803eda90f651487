"""The head of an answer: its status and headers, read line by line as they come."""

from __future__ import annotations

from rehi.errors import BadAnswer
from rehi.model.http import Headers, parse_headers

# Of all lines of an answer together, interim answers and trailers included; each counts for as much as it costs, so that
# neither a thousand short lines nor half a megabyte of long ones get through.
_ROOM = 524_288  # bytes
_PER_LINE = 512


class Head:
    """Collects the header lines that libcurl hands over; interim answers (1xx) and trailers are passed over."""

    __slots__ = ("_lines", "_room", "complete", "first_line", "headers", "status")

    def __init__(self) -> None:
        self.status = 0
        self.first_line = ""
        self.headers: Headers = ()
        self.complete = False  # the headers of the final answer have ended
        self._lines: list[bytes] = []
        self._room = _ROOM

    def add(self, line: bytes) -> bool:
        """Add a line; return whether it ended the headers of the final answer. BadAnswer if it can't be a header line."""
        self._room -= len(line) + _PER_LINE
        if self._room < 0:
            raise BadAnswer("the headers of the answer do not end")
        if self.complete:
            return False
        if line != b"\r\n" and line != b"\n":
            self._lines.append(line)
            return False
        self._end()
        return self.complete

    @property
    def http_version(self) -> str:
        """The HTTP version, as in "1.1"."""
        return self.first_line.partition(" ")[0].removeprefix("HTTP/")

    @property
    def reason(self) -> str:
        """The reason phrase of the status line."""
        return self.first_line.partition(" ")[2].strip().partition(" ")[2].strip()

    def _end(self) -> None:
        text = b"".join(self._lines).decode("latin-1")
        self.first_line, *lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
        self._lines = []
        self.status = _parse_status(self.first_line)
        if self.status == 101:
            raise BadAnswer("the answer changes to a protocol that nobody asked for")
        if self.status >= 200:
            self.headers = parse_headers(lines)
            self.complete = True


def _parse_status(line: str) -> int:
    words = line.split(None, 2)
    if len(words) < 2 or not words[1].isdecimal():
        raise BadAnswer("the answer has no status")
    return int(words[1][:3])
