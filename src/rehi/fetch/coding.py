"""Content codings: a body's compression, undone piece by piece.

libcurl could do it, but takes a compressed stream that breaks off for a whole one and fails on gzip of several members
or with padding behind it (both measured with 8.23). Half a file must never become a version.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from rehi.errors import BadEncoding, FetchError, Truncated
from rehi.model.media_type import GZIP_MAGIC
from rehi.zstd import zstd_module

PIECE = 65_536  # bytes that leave a decoder at once, so that a bomb meets the size cap before it meets the memory
_MAX_CODINGS = 4
_WINDOW_LOG = 23  # RFC 9659: zstd on the web needs no window above 8 MB
_UNREADABLE = frozenset({"br", "zstd", "compress", "x-compress", "exi", "pack200-gzip", "dcb", "dcz", "aes128gcm"})


class Decoder(Protocol):
    """Decodes one content coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Return the decoded pieces of the next bytes."""

    def finish(self) -> Iterator[bytes]:
        """Return what was held back; raise Truncated if the stream is not complete."""


@dataclass(slots=True)
class _Inflate:
    """Decodes gzip with any number of members, and deflate with or without its zlib wrapping."""

    gzip: bool
    _head: bytes = b""  # the first two bytes of a stream tell what it is
    _stream: Any = None
    _over: bool = False  # the rest of the bytes is padding
    _members: int = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._over:
            if self._stream is None:
                data = self._head + data
                if len(data) < 2:
                    self._head = data
                    return
                self._head = b""
                self._stream = self._open(data)
                continue
            piece = self._inflate(data)
            if piece:
                yield piece
            data = self._rest()

    def finish(self) -> Iterator[bytes]:
        while self._stream is not None:
            piece = self._inflate(b"")
            if piece:
                yield piece
            elif self._stream is not None and not self._stream.eof:
                raise _cut_off()
            self._rest()
        if self._head and not self._members:
            raise _cut_off()

    def _open(self, data: bytes) -> Any:
        if self.gzip:
            if self._members and data[:2] != GZIP_MAGIC:
                self._over = True
                return None
            return zlib.decompressobj(31)
        wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.decompressobj(15 if wrapped else -15)

    def _inflate(self, data: bytes) -> bytes:
        try:
            piece: bytes = self._stream.decompress(data, PIECE)
        except zlib.error as error:
            raise _broken("gzip" if self.gzip else "deflate") from error
        return piece

    def _rest(self) -> bytes:
        if not self._stream.eof:
            rest: bytes = self._stream.unconsumed_tail
            return rest
        unused: bytes = self._stream.unused_data
        self._stream = None
        self._members += 1
        self._over = not self.gzip
        return unused


class _Brotli:
    """Decodes Brotli."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._stream = module.Decompressor()
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._begun = True
        while not self._stream.is_finished():
            try:
                piece: bytes = self._stream.process(data, output_buffer_limit=PIECE)
            except self._module.error as error:
                raise _broken("br") from error
            if piece:
                yield piece
            if self._stream.can_accept_more_data():
                return
            data = b""

    def finish(self) -> Iterator[bytes]:
        if self._begun and not self._stream.is_finished():
            raise _cut_off()
        return iter(())


class _Zstd:
    """Decodes zstd with any number of frames."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._stream: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or (self._stream is not None and not self._stream.needs_input):
            if self._stream is None:
                options = {self._module.DecompressionParameter.window_log_max: _WINDOW_LOG}
                self._stream = self._module.ZstdDecompressor(options=options)
            try:
                piece: bytes = self._stream.decompress(data, PIECE)
            except self._module.ZstdError as error:
                raise _broken("zstd") from error
            data = b""
            if piece:
                yield piece
            if self._stream.eof:
                data = self._stream.unused_data
                self._stream = None

    def finish(self) -> Iterator[bytes]:
        if self._stream is not None:
            raise _cut_off()
        return iter(())


def _cut_off() -> FetchError:
    return Truncated("the compressed body broke off before its end")


def _broken(coding: str) -> FetchError:
    return BadEncoding(f"the body is declared as {coding} but is not, or is damaged")


@cache
def find_decoders() -> dict[str, Callable[[], Decoder]]:
    """Return a maker of decoders for each coding that this installation can decode, the most common first."""
    makers: dict[str, Callable[[], Decoder]] = {
        "gzip": lambda: _Inflate(gzip=True),
        "deflate": lambda: _Inflate(gzip=False),
    }
    if find_spec("brotli") is not None:
        brotli = import_module("brotli")
        # Before 1.2 the size of the output could not be limited: 1 KB may become 1 GB at once.
        if hasattr(brotli.Decompressor, "can_accept_more_data"):
            makers["br"] = lambda: _Brotli(brotli)
    makers["zstd"] = lambda: _Zstd(zstd_module())
    return makers


def decoders_for(content_encoding: str) -> tuple[Decoder, ...]:
    """Return the decoders for a Content-Encoding, in the order in which the bytes pass them.

    Words that name no coding ("utf-8", "none") are passed over, as browsers do.
    """
    names = [name.strip().lower().removeprefix("x-") for name in content_encoding.split(",")]
    makers = find_decoders()
    for name in names:
        if name in _UNREADABLE and name not in makers:
            raise BadEncoding(f"the body is compressed as {name}, which was not asked for and can't be read")
    chosen = [makers[name] for name in reversed(names) if name in makers]
    if len(chosen) > _MAX_CODINGS:
        raise BadEncoding(f"the body is compressed {len(chosen)} times over")
    return tuple(make() for make in chosen)
