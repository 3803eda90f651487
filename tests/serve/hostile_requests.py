"""Hostile requests: whatever bytes a client may send to any address, drawn from a seed."""

from __future__ import annotations

import re
import socket
from random import Random
from urllib.parse import quote

from rehi.operations.table import OPERATIONS
from rehi.serve.page_table import PAGES
from rehi.testing.waiting import PATIENCE

PARAMETERS = {
    "source_id": "1", "document_id": "1", "host_id": "1", "kind": "person", "slug": "keegi", "name": "a.test",
    "url": "http://a.test/", "digits": "20260301120000",
}  # fmt: skip
NUMBERS = ("0", "-1", str(2**63), str(2**63 - 1), str(2**64), "9" * 400, "1e9", "NaN", "٣", "+1", "0x10", " 1", "1_0")
TEXTS = (
    "", "%", "%00", "%ff%fe", "%ed%a0%80", "%F0%9F%98%80", "..%2f..%2fetc%2fpasswd", "../../x", "'", '"', "\\", "<script>",
    "{{7*7}}", "a" * 20_000, "%0d%0aSet-Cookie:%20a=b", "SELECT*{?s?p?o}", "ASK{}", "DROP ALL", "(" * 3_000, "[" * 500,
    "http://a.test/", "http://[::1", "http://a.test:99999/", "javascript:1", "2026-02-30", "0000", "9999-99", "last -5",
    "status:(a+)+$", "!mimetype:[", "*", "%2A", "\x80\xff", "ﬀ", "\ud800",
)  # fmt: skip
NAMES = ("limit", "offset", "url", "query", "q", "like", "source", "host", "type", "since", "until", "term", "filter", "fl",
         "from", "to", "matchType", "output", "collapse", "a", "b", "version", "at", "code", "stage", "kind", "others",
         "all", "domain", "prefix", "as", "state", "page", "method")  # fmt: skip
METHODS = (
    "GET",
    "POST",
    "HEAD",
    "OPTIONS",
    "PUT",
    "DELETE",
    "PATCH",
    "TRACE",
    "CONNECT",
    "get",
    "X" * 300,
    "G\x00T",
    "",
)
HEADERS = (
    "Accept: text/html", "Accept: x/y", "Accept: " + "a/b," * 5_000, "Range: bytes=9999999999999999999999-", "Range: bytes=-",
    "If-None-Match: \"", "If-None-Match: " + '"a",' * 9_000, "Accept-Datetime: yesterday", "Cookie: rehi_session=\xff",
    "Cookie: " + "a=b;" * 3_000, "Authorization: Bearer \xff", "Authorization: Basic", "Origin: http://evil.test",
    "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script", "Expect: 100-continue", "Connection: upgrade",
    "Upgrade: websocket", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Content-Encoding: gzip",
    "X-Forwarded-For: 1.2.3.4", "Bad header", ": empty", "X-Nul: a\x00b", "X-Long: " + "x" * 200_000, "Host: second.test",
)  # fmt: skip
TYPES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart/form-data",
         "multipart/form-data; boundary=" + "y" * 500, "multipart/form-data; boundary=\"", "text/plain",
         "application/sparql-query", "application/json; charset=utf-16", "\xff/\xff", "")  # fmt: skip
PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n--x--\r\n'
BODIES = (
    b"", b"{}", b"null", b"[]", b"\xff\xfe", b"{" * 20_000, b"[" * 60_000, b'{"source": "http://a.test/\\ud800"}', b'{"keep": 1e999}',
    b'{"delay": NaN}', b'{"a": 1, "a": 2}', b'"' + b"x" * 70_000, b"a=1&a=2", b"=" * 500, b"query=ASK{}", b"token=%ff",
    PART % (b"n" * 5_000, b"http://a.test/"), PART % (b"../../../x", b"\0\1"), PART % (b"", b""), PART % (b"a\0b", b"x"),
    b"--x\r\n", b"--x\r\nContent-Disposition: form-data\r\n\r\n", b"--x\r\nno header\r\n\r\n\r\n--x--", b"--x--", b"\r\n" * 3_000,
    b"--x\r\nContent-Disposition: form-data; name=file; filename*=utf-8''%ff\r\n\r\nx", b"5\r\nabc", b"zz\r\n",
)  # fmt: skip


class HostileRequests:
    """Draws requests: each is one that could be meant, with some of it replaced by what nobody means."""

    def __init__(self, seed: int, host: str) -> None:
        self._random, self._host = Random(seed), host
        rows = [address.split() for address in (*(row.address for row in OPERATIONS), *(row.address for row in PAGES))]
        self._rows = [*rows, ["GET", "/static/rehi.css"], ["GET", "/nothing"], ["GET", "/web/2026id_/http://a.test/"]]

    def draw(self) -> tuple[bytes, bool]:
        """Return the bytes of the next request, and whether it breaks off, so that nothing comes after it."""
        random = self._random
        method, path = random.choice(self._rows)
        path = re.sub(r"{(\w+)(?::path)?}", lambda name: self._value(PARAMETERS.get(name[1], "1"), 0.3), path)
        if random.random() < 0.6:
            fields = [f"{random.choice(NAMES)}={self._value('1', 0.8)}" for _ in range(random.randint(1, 4))]
            path += "?" + "&".join(fields)
        method = random.choice(METHODS) if random.random() < 0.15 else method
        lines = [f"{method} {path} HTTP/1.1", "" if random.random() < 0.02 else f"Host: {self._host}"]
        lines += [random.choice(HEADERS) for _ in range(random.choice((0, 0, 1, 2)))]
        broken_off = not method or any("chunked" in line for line in lines)
        body = self._body() if method == "POST" or random.random() < 0.1 else b""
        if body or random.random() < 0.05:
            length = self._length(body)
            lines += [f"Content-Type: {random.choice(TYPES)}", f"Content-Length: {length}"]
            broken_off = broken_off or length != str(len(body))
        head = "\r\n".join(line for line in lines if line) + "\r\nConnection: close\r\n\r\n"
        whole = head.encode("latin-1", "replace") + body
        return (self._damage(whole), True) if random.random() < 0.1 else (whole, broken_off)

    def _value(self, usual: str, share: float) -> str:
        random = self._random
        if random.random() >= share:
            return usual
        value = random.choice(NUMBERS if random.random() < 0.4 else TEXTS)
        return value if random.random() < 0.5 else quote(value, safe="%/:*", errors="surrogatepass")

    def _body(self) -> bytes:
        random = self._random
        body = random.choice(BODIES)
        return body if random.random() < 0.7 else self._damage(body)

    def _length(self, body: bytes) -> str:
        wrong = (str(len(body) + 10), str(len(body) // 2), "-1", "x", str(10**30))
        return self._random.choice(wrong) if self._random.random() < 0.1 else str(len(body))

    def _damage(self, raw: bytes) -> bytes:
        """Return bytes that are cut, or of which one is another."""
        random = self._random
        if not raw or random.random() < 0.5:
            return raw[: random.randint(0, len(raw))]
        at = random.randrange(len(raw))
        return raw[:at] + bytes([random.randrange(256)]) + raw[at + 1 :]


def send(host: str, port: int, request: bytes, *, broken_off: bool = False) -> bytes:
    """Send bytes and perhaps end the sending side, and return what comes back; nothing if the server hangs up."""
    with socket.create_connection((host, port), PATIENCE) as client:
        try:
            client.sendall(request)
            if broken_off:
                client.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: client.recv(1 << 20), b""))
        except TimeoutError:
            raise
        except OSError:  # reset, or no longer connected when the sending side was to be ended
            return b""


def status_of(answer: bytes) -> int:
    """Return the status of an answer; 0 if there is none."""
    match = re.match(rb"HTTP/1\.1 (\d{3})", answer)
    return int(match[1]) if match else 0
