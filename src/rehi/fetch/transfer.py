"""A transfer: one libcurl handle that makes one request at a time, and is used again for the next."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import Any

import pycurl

from rehi.errors import BadAnswer, DiskFull, FetchError, RehiError, TooLarge, Truncated
from rehi.fetch.body import Body
from rehi.fetch.failure import Failure, translate
from rehi.fetch.guard import Guard
from rehi.fetch.resolve import ResolveRule
from rehi.fetch.target import Target
from rehi.fetch.trust import certificates
from rehi.model.visit import Answer, Headers
from rehi.settings import FetchSettings

MAX_HEADER_BYTES = 262_144  # of all header lines of an answer together, interim answers and trailers included
MAX_HEADER_LINES = 1_000
_STALL_BYTES = 32  # a second
_BODILESS = frozenset({204, 304})


class Transfer:
    """What is set once stays set: per visit only the URL, the headers, the time limit and the route change."""

    def __init__(self, settings: FetchSettings, guard: Guard, *, spool: Path | None) -> None:
        self.curl = _new_handle(settings)
        self._guard = guard
        self._spool = spool
        self._rule: ResolveRule | None = None
        self._socket: socket.socket | None = None
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_open)
        self.curl.setopt(pycurl.SOCKOPTFUNCTION, self._on_opened)
        self._body: Body | None = None

    def prepare(
        self, target: Target, headers: Headers, *, rule: ResolveRule | None, timeout: float, max_bytes: int
    ) -> None:
        """Make ready for a request; it starts when the handle is added to a multi handle."""
        self._target = target
        self._port = rule.port if rule else target.port
        self._sent = headers
        self._max_bytes = max_bytes
        self._lines: list[bytes] = []
        self._line_count = self._header_bytes = 0
        self._status = 0
        self._complete = False  # the headers of the final answer have ended
        self._headers: Headers = ()
        self._first_line = ""
        self._body = None
        self._trouble: RehiError | None = None
        self._denied = ""
        self._opened = False
        self.curl.setopt(pycurl.URL, target.url)
        self.curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}".encode("latin-1") for name, value in headers])
        self.curl.setopt(pycurl.TIMEOUT_MS, max(1, int(timeout * 1000)))
        if rule is not self._rule:
            if rule is None:
                self.curl.unsetopt(pycurl.CONNECT_TO)  # pycurl takes no notice of an empty list
            else:
                self.curl.setopt(pycurl.CONNECT_TO, [rule.connect_to])
            self._rule = rule

    def seconds(self) -> float:
        """How long the request took."""
        return float(self.curl.getinfo(pycurl.TOTAL_TIME))

    def conclude(self, code: int, message: str) -> Answer:
        """The answer, or the error that libcurl's verdict amounts to."""
        try:
            return self._answer(code, message)
        except FetchError as error:
            self.drop()
            raise type(error)(f"{self._target.host}: {error}") from error
        except OSError as error:
            self.drop()
            raise _out_of_room(error) from error
        except RehiError:
            self.drop()
            raise

    def drop(self) -> None:
        """Let go of a body that nobody will get."""
        if self._body is not None:
            self._body.close()
            self._body = None

    def close(self) -> None:
        """Give the handle back; it must not be in a multi handle any more."""
        self.drop()
        self._close_spare()
        self.curl.close()

    def _answer(self, code: int, message: str) -> Answer:
        if self._trouble is not None:
            raise self._trouble
        if code != pycurl.E_OK:
            raise translate(self._failure(code, message))
        if not self._complete:
            raise Truncated("the connection closed before the headers had ended")
        if self._body is None:
            self._body = Body(content_encoding="", max_bytes=self._max_bytes, spool=self._spool)
        stream, size, digest = self._body.finish()
        self._body = None
        version, _, rest = self._first_line.partition(" ")
        return Answer(
            status=self._status,
            reason=rest.strip().partition(" ")[2].strip(),
            http_version=version.removeprefix("HTTP/"),
            request_headers=self._sent,
            headers=self._headers,
            address=self.curl.getinfo(pycurl.PRIMARY_IP),
            body=stream,
            size=size,
            digest=digest,
        )

    def _failure(self, code: int, message: str) -> Failure:
        info = self.curl.getinfo
        return Failure(
            code=code,
            message=message,
            errno=info(pycurl.OS_ERRNO),
            port=self._target.port,
            denied=self._denied,
            opened=self._opened,
            answered=self._complete,
            seconds=info(pycurl.TOTAL_TIME),
            connected=info(pycurl.CONNECT_TIME) > 0,
            looked_up=info(pycurl.NAMELOOKUP_TIME) > 0,
        )

    # What libcurl calls. An exception must not leave these: it would be printed, not raised.

    def _on_open(self, _purpose: int, address: Any) -> Any:
        family, kind, protocol, place = address
        if (
            family not in (socket.AF_INET, socket.AF_INET6)
            or place[1] != self._port
            or not self._guard.admits(place[0])
        ):
            self._denied = str(place[0])
            return pycurl.SOCKET_BAD
        self._close_spare()
        try:
            self._socket = socket.socket(family, kind, protocol)
        except OSError:
            return pycurl.SOCKET_BAD
        self._opened = True
        return self._socket

    def _on_opened(self, descriptor: int, _purpose: int) -> int:
        # pycurl hands a copy to libcurl, and one that child processes would inherit.
        os.set_inheritable(descriptor, False)
        self._close_spare()
        return 0

    def _close_spare(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _on_header(self, line: bytes) -> int:
        self._line_count += 1
        self._header_bytes += len(line)
        if self._line_count > MAX_HEADER_LINES or self._header_bytes > MAX_HEADER_BYTES:
            self._trouble = BadAnswer("the headers of the answer do not end")
            return 0
        if self._complete:  # a trailer
            return len(line)
        if line not in (b"\r\n", b"\n"):
            self._lines.append(line)
            return len(line)
        try:
            self._end_headers()
        except (RehiError, OSError) as error:
            self._trouble = error if isinstance(error, RehiError) else _out_of_room(error)
            return 0
        return len(line)

    def _end_headers(self) -> None:
        self._first_line, *rest = [line.decode("latin-1").rstrip("\r\n") for line in self._lines] or [""]
        self._lines = []
        self._status = _parse_status(self._first_line)
        if self._status == 101:
            raise BadAnswer("the answer changes to a protocol that nobody asked for")
        if self._status < 200:
            return
        self._headers = _parse_headers(rest)
        self._complete = True
        if self._status in _BODILESS:
            return
        coding = []
        for name, value in self._headers:
            lowered = name.lower()
            if lowered == "content-encoding":
                coding.append(value)
            elif lowered == "content-length" and value.isdecimal() and int(value[:20]) > self._max_bytes:
                raise TooLarge(f"the body has {value[:20]} bytes, and no more than {self._max_bytes:,} are allowed")
        self._body = Body(content_encoding=",".join(coding), max_bytes=self._max_bytes, spool=self._spool)

    def _on_body(self, data: bytes) -> int:
        if self._body is None:
            return len(data)
        try:
            self._body.write(data)
        except RehiError as error:
            self._trouble = error
            return 0
        except OSError as error:
            self._trouble = _out_of_room(error)
            return 0
        return len(data)


def _new_handle(settings: FetchSettings) -> Any:
    curl = pycurl.Curl()
    for option, value in (
        (pycurl.NOSIGNAL, 1),
        (pycurl.NOPROGRESS, 1),
        (pycurl.PROXY, ""),  # nothing but the settings decides where we connect, so neither may a proxy variable
        (pycurl.FOLLOWLOCATION, 0),
        (pycurl.HTTP09_ALLOWED, 0),
        (pycurl.HTTP_CONTENT_DECODING, 0),
        (pycurl.CONNECTTIMEOUT_MS, max(1, int(settings.connect_timeout * 1000))),
        (pycurl.LOW_SPEED_LIMIT, _STALL_BYTES),
        (pycurl.LOW_SPEED_TIME, max(1, round(settings.stall_timeout))),
        (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS),
    ):
        curl.setopt(option, value)
    curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    bundle = certificates()
    if bundle:
        curl.setopt(pycurl.CAINFO, bundle)
    return curl


def _parse_status(line: str) -> int:
    words = line.split(None, 2)
    if len(words) < 2 or not words[1].isdecimal():
        raise BadAnswer("the answer has no status")
    return int(words[1][:3])


def _parse_headers(lines: list[str]) -> Headers:
    """Names and values; a line that begins with white space belongs to the one before."""
    headers: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (" ", "\t"):
            if headers:
                name, value = headers[-1]
                headers[-1] = (name, f"{value} {line.strip()}".strip())
            continue
        name, _, value = line.partition(":")
        headers.append((name.strip(), value.strip(" \t")))
    return tuple(headers)


def _out_of_room(error: OSError) -> DiskFull:
    reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or "writing failed").lower()
    return DiskFull(f"a body could not be put into a temporary file: {reason}")
