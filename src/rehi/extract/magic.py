"""Magic numbers: the first bytes by which binary formats give themselves away."""

from __future__ import annotations

from functools import cache

_OFFICE = "application/vnd.openxmlformats-officedocument."

# (offset, bytes, media type), the more telling before the shorter.
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "image/x-icon"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"FLV\x01", "video/x-flv"),
    (8, b"AVI ", "video/x-msvideo"),
    (8, b"WAVE", "audio/wav"),
    (0, b"OggS", "application/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"MThd", "audio/midi"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"%!PS", "application/postscript"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"OTTO", "font/otf"),
    (0, b"\x00\x01\x00\x00\x00", "font/ttf"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"\x00asm", "application/wasm"),
    (0, b"\xca\xfe\xba\xbe", "application/java-vm"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"FWS", "application/x-shockwave-flash"),
    (0, b"CWS", "application/x-shockwave-flash"),
)
# Such short magic also starts honest texts ("BMW …", "ID3 …"): it counts only when binary bytes follow.
_WEAK = frozenset(
    {b"BM", b"BZh", b"ID3", b"FWS", b"CWS", b"PAR1", b"OTTO", b"8BPS", b"WEBP", b"WAVE", b"AVI ", b"ftyp", b"ustar"}
)
_ZIPPED = (
    (b"mimetypeapplication/epub+zip", "application/epub+zip"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.spreadsheet"),
    (b"mimetypeapplication/vnd.oasis.opendocument.presentation", "application/vnd.oasis.opendocument.presentation"),
    (b"word/", _OFFICE + "wordprocessingml.document"),
    (b"xl/", _OFFICE + "spreadsheetml.sheet"),
    (b"ppt/", _OFFICE + "presentationml.presentation"),
    (b"META-INF/MANIFEST.MF", "application/java-archive"),
)
_CONTROLS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\f\r\x1b")


def magic_type(raw: bytes) -> str:
    """The media type that the first bytes prove; "" when they prove none."""
    if b"%PDF-" in raw[:1024]:
        return "application/pdf"
    if raw.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_type(raw)
    for offset, mark, media_type in _magic_of(raw[:1]):
        if raw.startswith(mark, offset) and (mark not in _WEAK or is_binary(raw)):
            return media_type
    return ""


@cache
def _magic_of(first: bytes) -> tuple[tuple[int, bytes, str], ...]:
    """Those that a body with this first byte may have."""
    return tuple(magic for magic in _MAGIC if magic[0] or magic[1].startswith(first))


def is_binary(raw: bytes) -> bool:
    """Whether more than a hundredth of the first bytes are controls that no text has; noise has a tenth."""
    sample = raw[:8192]
    return len(sample) - len(sample.translate(None, _CONTROLS)) > len(sample) / 100


def _zip_type(raw: bytes) -> str:
    """A zip's first names tell its kind; the directory at its end names the rest."""
    sample = raw[:65536] + raw[-65536:]
    return next((media_type for mark, media_type in _ZIPPED if mark in sample), "application/zip")
