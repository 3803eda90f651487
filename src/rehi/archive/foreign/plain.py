"""Plain bytes, read by lines and blocks, with a way to the next line that begins as a record does."""

from __future__ import annotations

from typing import Protocol

from rehi.archive.foreign.digest import Hash
from rehi.errors import RecordDamaged

_BLANK = b"\r\n"


class Chunks(Protocol):
    """Where plain bytes come from."""

    def chunk(self) -> bytes:
        """The next ones; none at the end."""


class Plain:
    """Plain bytes as they come, of which no more than a chunk and a line are held."""

    def __init__(self, source: Chunks) -> None:
        self._source = source
        self._held, self._at, self._start = b"", 0, 0
        self._moved = 0  # bytes by which what is held was moved to the front

    def tell(self) -> int:
        """How many bytes were taken."""
        return self._start + self._at

    @property
    def at_end(self) -> bool:
        """Whether nothing follows."""
        return self._at >= len(self._held) and not self._more()

    def take(self, size: int) -> bytes:
        """Some of the next bytes, no more than ``size``; none at the end."""
        if self._at >= len(self._held) and not self._more():
            return b""
        out = self._held[self._at : self._at + size]
        self._at += len(out)
        return out

    def line(self, limit: int) -> bytes:
        """The next line with its end; what comes of it within the limit if it is longer."""
        seen = self._at
        while True:
            end = self._held.find(b"\n", seen, self._at + limit)
            if end >= 0:
                break
            seen = len(self._held)
            if seen - self._at >= limit or not self._more():
                end = min(len(self._held), self._at + limit) - 1
                break
            seen -= self._moved
        out = self._held[self._at : end + 1]
        self._at = end + 1
        return out

    def skip_blank(self) -> bytes:
        """Pass over line ends; the first few of them."""
        passed = b""
        while not self.at_end:
            rest = self._held[self._at :].lstrip(_BLANK) if self._held[self._at] in _BLANK else None
            if rest is None:
                break
            skipped = len(self._held) - self._at - len(rest)
            passed = (passed + self._held[self._at : self._at + min(8, skipped)])[:8]
            self._at += skipped
        return passed

    def seek_line(self, marks: tuple[bytes, ...]) -> bool:
        """Go to the next line that begins with one of the marks, this one not counted; whether there is one."""
        targets = [b"\n" + mark for mark in marks]
        longest = max(map(len, targets))
        while True:
            places = [place for target in targets if (place := self._held.find(target, self._at)) >= 0]
            if places:
                self._at = min(places) + 1
                return True
            self._at = max(self._at, len(self._held) - longest + 1)
            if not self._more():
                self._at = len(self._held)
                return False

    def _more(self) -> bool:
        chunk = self._source.chunk()
        if not chunk:
            return False
        self._moved = self._at
        self._start += self._at
        self._held, self._at = self._held[self._at :] + chunk, 0
        return True


class Block:
    """A record's block, hashed as it goes by if there is something to check it against."""

    def __init__(self, plain: Plain, length: int, *, hash_: Hash | None = None) -> None:
        self._plain, self._hash = plain, hash_
        self._payload_hash: Hash | None = None
        self.left = length

    def hash_payload(self, hash_: Hash) -> None:
        """From here on it is the payload."""
        self._payload_hash = hash_

    def read(self, size: int = 65_536) -> bytes:
        """Some of the next bytes, none at the block's end; RecordDamaged if the file ends before."""
        if not self.left:
            return b""
        return self._pass(self._plain.take(min(size, self.left)))

    def readline(self, limit: int) -> bytes:
        """The next line, or what comes of it within the limit."""
        limit = min(limit, self.left)
        return self._pass(self._plain.line(limit)) if limit > 0 else b""

    @property
    def digest(self) -> bytes | None:
        """Of what went by, if it was hashed."""
        return None if self._hash is None else self._hash.digest()

    @property
    def payload_digest(self) -> bytes | None:
        """Of what went by of the payload, if it was hashed."""
        return None if self._payload_hash is None else self._payload_hash.digest()

    def drain(self) -> None:
        """Pass over what is left."""
        while self.left:
            self.read()

    def _pass(self, data: bytes) -> bytes:
        if not data:
            raise RecordDamaged(f"the file ends {self.left:,} bytes before the record does")
        self.left -= len(data)
        if self._hash is not None:
            self._hash.update(data)
        if self._payload_hash is not None:
            self._payload_hash.update(data)
        return data
