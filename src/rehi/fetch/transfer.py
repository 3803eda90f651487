"""A transfer: one libcurl handle that makes one request at a time, and is used again for the next."""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pycurl

from rehi.errors import ConnectFailed, DiskFull, FetchError, RehiError, TooLarge, Truncated
from rehi.fetch.checksum import CHECKSUM_HEADERS
from rehi.fetch.connection_options import DEFAULT_OPTIONS, ConnectionOptions, merge_headers
from rehi.fetch.failure import Failure, translate
from rehi.fetch.guard import Guard
from rehi.fetch.handle import new_handle, set_options
from rehi.fetch.incoming import Head, IncomingBody
from rehi.fetch.route import ResolveRule
from rehi.fetch.target import Target
from rehi.model.visit import Answer, Headers
from rehi.settings import FetchSettings

_BODILESS = frozenset({204, 304})
_PROXY_AUTHENTICATION_REQUIRED = 407


@dataclass(slots=True, kw_only=True)
class TransferRequest:
    """One request that a transfer is to make.

    Not frozen: one is made for every page, and a frozen one takes three times as long to make.
    """

    target: Target
    headers: Headers  # common to all hosts; the options may add to them
    options: ConnectionOptions
    rule: ResolveRule | None
    addresses: tuple[str, ...]  # where to connect, when the name has been looked up
    timeout: float  # seconds
    max_bytes: int
    cut_at: int | None = None  # bytes of the body, the rest of which is not wanted

    @property
    def port(self) -> int:
        """The port to which the connection is made."""
        if self.options.proxy is not None:
            return self.options.proxy.port
        return self.rule.port if self.rule is not None else self.target.port


class Transfer:
    """A libcurl handle, and the body that it receives.

    What is set once stays set: per visit only the URL, the headers, the time limit and the route change.
    """

    def __init__(self, settings: FetchSettings, guard: Guard, *, spool: Path | None) -> None:
        self.curl = new_handle(settings)
        self._guard = guard
        self._spool = spool
        self._rule: ResolveRule | None = None
        self._options = DEFAULT_OPTIONS
        self._addressed = False
        self._socket: socket.socket | None = None
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_open)
        self.curl.setopt(pycurl.SOCKOPTFUNCTION, self._on_opened)
        self._body: IncomingBody | None = None

    def prepare(self, request: TransferRequest) -> None:
        """Make ready for a request; it starts when the handle is added to a multi handle."""
        self._request = request
        self._head = Head()
        self._body = None
        self._error: RehiError | None = None
        self._denied = ""
        self._opened = False
        headers = request.headers
        if request.options.headers:
            headers = merge_headers(headers, request.options.headers)
        self.curl.setopt(pycurl.URL, request.target.url)
        self.curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}".encode("latin-1") for name, value in headers])
        self.curl.setopt(pycurl.TIMEOUT_MS, max(1, int(request.timeout * 1000)))
        if request.options is not self._options:
            set_options(self.curl, request.options)
            self._options = request.options
        self._route(request)

    def conclude(self, code: int, message: str) -> Answer:
        """Return the answer, or raise the error that libcurl's result code stands for."""
        try:
            return self._answer(code, message)
        except FetchError as error:
            self.drop()
            raise type(error)(f"{self._request.target.host}: {error}") from error
        except OSError as error:
            self.drop()
            raise _disk_error(error) from error
        except RehiError:
            self.drop()
            raise

    def drop(self) -> None:
        """Close the body of an answer that nobody takes."""
        if self._body is not None:
            self._body.close()
            self._body = None

    def close(self) -> None:
        """Close the handle; it must not be in a multi handle any more."""
        self.drop()
        self._close_spare_socket()
        self.curl.close()

    def _route(self, request: TransferRequest) -> None:
        rule = request.rule
        if rule is not self._rule:
            if rule is None:
                self.curl.unsetopt(pycurl.CONNECT_TO)  # pycurl takes no notice of an empty list
            else:
                self.curl.setopt(pycurl.CONNECT_TO, [f"::{rule.host}:{rule.port}"])
            self._rule = rule
        if request.addresses:
            host, port = (rule.host, rule.port) if rule is not None else (request.target.host, request.target.port)
            addresses = ",".join(f"[{address}]" if ":" in address else address for address in request.addresses)
            self.curl.setopt(pycurl.RESOLVE, [f"+{host}:{port}:{addresses}"])
            self._addressed = True
        elif self._addressed:
            self.curl.unsetopt(pycurl.RESOLVE)
            self._addressed = False

    def _answer(self, code: int, message: str) -> Answer:
        if self._error is not None:
            raise self._error
        if code != pycurl.E_OK and (self._body is None or not self._body.cut):
            raise translate(self._failure(code, message))
        request, head = self._request, self._head
        if not head.complete:
            raise Truncated("the connection closed before the headers had ended")
        if head.status == _PROXY_AUTHENTICATION_REQUIRED and request.options.proxy is not None:
            raise ConnectFailed("the proxy in fetch.hosts wants another name or password (407)")
        if self._body is None:
            self._body = IncomingBody(content_encoding="", max_bytes=request.max_bytes, spool=self._spool)
        stream, size, digest = self._body.finish()
        self._body, withheld = None, request.options.withheld
        return Answer(
            status=head.status,
            reason=head.reason,
            http_version=head.http_version,
            request_headers=merge_headers(request.headers, withheld) if withheld else request.headers,
            headers=head.headers,
            # Behind a proxy, the address of the host is not known here.
            address="" if request.options.proxy is not None else self.curl.getinfo(pycurl.PRIMARY_IP),
            body=stream,
            size=size,
            digest=digest,
        )

    def _failure(self, code: int, message: str) -> Failure:
        info = self.curl.getinfo
        options = self._request.options
        return Failure(
            code=code,
            message="" if any(secret in message for secret in options.secrets) else message,
            errno=info(pycurl.OS_ERRNO),
            port=self._request.port,
            proxied=options.proxy is not None,
            denied=self._denied,
            opened=self._opened,
            answered=self._head.complete,
            seconds=info(pycurl.TOTAL_TIME),
            connected=info(pycurl.CONNECT_TIME) > 0,
            looked_up=info(pycurl.NAMELOOKUP_TIME) > 0,
        )

    # Called by libcurl. An exception must not leave these: it would be printed, not raised.

    def _on_open(self, _purpose: int, address: Any) -> Any:
        family, kind, protocol, socket_address = address
        request = self._request
        # A proxy stands where the operator has put it, and that may be a private network.
        admitted = request.options.proxy is not None or self._guard.admits(socket_address[0])
        if family not in (socket.AF_INET, socket.AF_INET6) or socket_address[1] != request.port or not admitted:
            self._denied = str(socket_address[0])
            return pycurl.SOCKET_BAD
        self._close_spare_socket()
        try:
            self._socket = socket.socket(family, kind, protocol)
        except OSError:
            return pycurl.SOCKET_BAD
        self._opened = True
        return self._socket

    def _on_opened(self, descriptor: int, _purpose: int) -> int:
        # pycurl hands a copy to libcurl, and one that child processes would inherit.
        os.set_inheritable(descriptor, False)
        self._close_spare_socket()
        return 0

    def _close_spare_socket(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _on_header(self, line: bytes) -> int | None:  # None tells libcurl to go on, 0 to stop
        try:
            if self._head.add(line):
                self._begin_body()
        except (RehiError, OSError) as error:
            self._error = error if isinstance(error, RehiError) else _disk_error(error)
            return 0
        return None

    def _begin_body(self) -> None:
        head, request = self._head, self._request
        if head.status in _BODILESS:
            return
        coding, checksums = [], []
        for name, value in head.headers:
            lowered = name.lower()
            if lowered == "content-encoding":
                coding.append(value)
            elif lowered == "content-length" and request.cut_at is None:
                if value.isdecimal() and int(value[:20]) > request.max_bytes:
                    most = f"no more than {request.max_bytes:,} are allowed"
                    raise TooLarge(f"the body has {value[:20]} bytes, and {most}")
            elif lowered in CHECKSUM_HEADERS and head.status == 200:
                checksums.append((name, value))
        self._body = IncomingBody(
            content_encoding=",".join(coding),
            max_bytes=request.max_bytes,
            cut_at=request.cut_at,
            checksums=tuple(checksums),
            spool=self._spool,
        )

    def _on_body(self, data: bytes) -> int | None:
        body = self._body
        if body is None:
            return None
        try:
            body.write(data)
        except (RehiError, OSError) as error:
            self._error = error if isinstance(error, RehiError) else _disk_error(error)
            return 0
        return 0 if body.cut else None


def _disk_error(error: OSError) -> DiskFull:
    reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or "writing failed").lower()
    return DiskFull(f"a body could not be put into a temporary file: {reason}")
