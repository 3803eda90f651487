"""WARC and ARC files as others write them, made by hand."""

from __future__ import annotations

import base64
import gzip
import hashlib
import struct
from collections.abc import Iterable, Sequence

from backports import zstd

CRLF = b"\r\n"
DATE = "2015-06-01T10:00:00Z"


def sha1(content: bytes) -> str:
    """As Heritrix and most others write it."""
    return f"sha1:{base64.b32encode(hashlib.sha1(content).digest()).decode()}"


def http(body: bytes = b"<p>Tere", *headers: str, status: str = "200 OK") -> bytes:
    """An answer."""
    lines = [f"HTTP/1.1 {status}", *(headers or ("Content-Type: text/html",))]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def record(
    kind: str, url: str = "", block: bytes = b"", *, date: str = DATE, version: str = "1.0", **named: str
) -> bytes:
    """A record, not compressed; names have _ for -, and an empty value leaves one out."""
    fields = {
        "WARC_Type": kind,
        "WARC_Record_ID": f"<urn:uuid:{hashlib.md5(f'{kind} {url} {date}'.encode()).hexdigest()}>",
        "WARC_Date": date,
        "WARC_Target_URI": url,
        "Content_Type": "application/warc-fields"
        if kind in ("warcinfo", "metadata")
        else "application/http; msgtype=x",
        **named,
    }
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if value)
    length = "" if "Content_Length" in named else f"Content-Length: {len(block)}\r\n"
    return f"WARC/{version}\r\n{lines}{length}\r\n".encode() + block + CRLF + CRLF


def response(url: str, body: bytes = b"<p>Tere", *headers: str, status: str = "200 OK", **named: str) -> bytes:
    """A response with its payload's digest."""
    return record("response", url, http(body, *headers, status=status), **{"WARC_Payload_Digest": sha1(body), **named})


def request(url: str, *headers: str, method: str = "GET", **named: str) -> bytes:
    """A request."""
    lines = [f"{method} / HTTP/1.1", "Host: a.ee", *headers, "", ""]
    return record("request", url, "\r\n".join(lines).encode(), **named)


def revisit(url: str, body: bytes, *, head: bytes = b"", **named: str) -> bytes:
    """A revisit of what has the same payload."""
    profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
    said = {"WARC_Profile": profile, "WARC_Payload_Digest": sha1(body), **named}
    return record("revisit", url, head, **said)


def members(records: Iterable[bytes]) -> bytes:
    """A gzip member for each record, as it should be."""
    return b"".join(gzip.compress(one, mtime=0) for one in records)


def frames(records: Sequence[bytes]) -> bytes:
    """A zstd frame for each record."""
    return b"".join(map(zstd.compress, records))


def frames_with_dictionary(records: Sequence[bytes], *, packed: bool = False) -> bytes:
    """A zstd frame for each record, with a dictionary in the frame before."""
    dictionary = zstd.train_dict([*records, *(bytes([n]) * 100 + records[0] for n in range(100))], 4_000)
    content = zstd.compress(dictionary.dict_content) if packed else dictionary.dict_content
    head = struct.pack("<II", 0x184D2A5D, len(content)) + content
    return head + b"".join(zstd.compress(one, zstd_dict=dictionary) for one in records)


def arc(*answers: tuple[str, bytes], version: int = 1, date: str = "20050601100000") -> list[bytes]:
    """The records of an ARC file."""
    names = "URL IP-address Archive-date Content-type Archive-length"
    if version == 2:
        names = names.replace("Archive-length", "Result-code Checksum Location Offset Filename Archive-length")
    about = f"{version} 0 Somebody\n{names}\n".encode()
    middle = " 200 - - 0 old.arc" if version == 2 else ""
    made = [f"filedesc://old.arc 0.0.0.0 {date} text/plain{middle} {len(about)}\n".encode() + about + b"\n"]
    for url, block in answers:
        made.append(f"{url} 192.0.2.1 {date} text/html{middle} {len(block)}\n".encode() + block + b"\n")
    return made
