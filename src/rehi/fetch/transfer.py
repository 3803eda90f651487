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
from rehi.fetch.body import Body
from rehi.fetch.checksum import CHECKSUM_HEADERS
from rehi.fetch.failure import Failure, translate
from rehi.fetch.guard import Guard
from rehi.fetch.handle import new_handle, set_way
from rehi.fetch.head import Head
from rehi.fetch.resolve import ResolveRule
from rehi.fetch.target import Target
from rehi.fetch.ways import ORDINARY, Way
from rehi.model.visit import Answer, Headers
from rehi.settings import FetchSettings

_BODILESS = frozenset({204, 304})
_PROXY_WANTS_A_NAME = 407


@dataclass(slots=True, kw_only=True)
class Order:
    """What a transfer is to do. (Made for every page, and a frozen one takes three times as long to make.)"""

    target: Target
    headers: Headers  # our own; the way adds to them
    way: Way
    rule: ResolveRule | None
    addresses: tuple[str, ...]  # where to connect, when the name has been looked up
    timeout: float  # seconds
    max_bytes: int
    cut_at: int | None = None  # bytes of the body, the rest of which is not wanted

    @property
    def port(self) -> int:
        """The port that is connected."""
        if self.way.proxy is not None:
            return self.way.proxy.port
        return self.rule.port if self.rule is not None else self.target.port


class Transfer:
    """What is set once stays set: per visit only the URL, the headers, the time limit and the route change."""

    def __init__(self, settings: FetchSettings, guard: Guard, *, spool: Path | None) -> None:
        self.curl = new_handle(settings)
        self._guard = guard
        self._spool = spool
        self._rule: ResolveRule | None = None
        self._way = ORDINARY
        self._addressed = False
        self._socket: socket.socket | None = None
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_open)
        self.curl.setopt(pycurl.SOCKOPTFUNCTION, self._on_opened)
        self._body: Body | None = None

    def prepare(self, order: Order) -> None:
        """Make ready for a request; it starts when the handle is added to a multi handle."""
        self._order = order
        self._head = Head()
        self._body = None
        self._trouble: RehiError | None = None
        self._denied = ""
        self._opened = False
        sent = order.way.sent(order.headers)
        self.curl.setopt(pycurl.URL, order.target.url)
        self.curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}".encode("latin-1") for name, value in sent])
        self.curl.setopt(pycurl.TIMEOUT_MS, max(1, int(order.timeout * 1000)))
        if order.way is not self._way:
            set_way(self.curl, order.way)
            self._way = order.way
        self._route(order)

    def seconds(self) -> float:
        """How long the request took."""
        return float(self.curl.getinfo(pycurl.TOTAL_TIME))

    def conclude(self, code: int, message: str) -> Answer:
        """The answer, or the error that libcurl's verdict amounts to."""
        try:
            return self._answer(code, message)
        except FetchError as error:
            self.drop()
            raise type(error)(f"{self._order.target.host}: {error}") from error
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

    def _route(self, order: Order) -> None:
        rule = order.rule
        if rule is not self._rule:
            if rule is None:
                self.curl.unsetopt(pycurl.CONNECT_TO)  # pycurl takes no notice of an empty list
            else:
                self.curl.setopt(pycurl.CONNECT_TO, [rule.connect_to])
            self._rule = rule
        if order.addresses:
            host, port = (rule.host, rule.port) if rule is not None else (order.target.host, order.target.port)
            places = ",".join(f"[{address}]" if ":" in address else address for address in order.addresses)
            self.curl.setopt(pycurl.RESOLVE, [f"+{host}:{port}:{places}"])
            self._addressed = True
        elif self._addressed:
            self.curl.unsetopt(pycurl.RESOLVE)
            self._addressed = False

    def _answer(self, code: int, message: str) -> Answer:
        if self._trouble is not None:
            raise self._trouble
        if code != pycurl.E_OK and (self._body is None or not self._body.cut):
            raise translate(self._failure(code, message))
        order, head = self._order, self._head
        if not head.complete:
            raise Truncated("the connection closed before the headers had ended")
        if head.status == _PROXY_WANTS_A_NAME and order.way.proxy is not None:
            raise ConnectFailed("the proxy in fetch.hosts wants another name or password (407)")
        if self._body is None:
            self._body = Body(content_encoding="", max_bytes=order.max_bytes, spool=self._spool)
        stream, size, digest = self._body.finish()
        self._body = None
        return Answer(
            status=head.status,
            reason=head.reason,
            http_version=head.http_version,
            request_headers=order.way.told(order.headers),
            headers=head.headers,
            # Behind a proxy, nobody here knows where the host is.
            address="" if order.way.proxy is not None else self.curl.getinfo(pycurl.PRIMARY_IP),
            body=stream,
            size=size,
            digest=digest,
        )

    def _failure(self, code: int, message: str) -> Failure:
        info = self.curl.getinfo
        way = self._order.way
        return Failure(
            code=code,
            message="" if any(secret in message for secret in way.secrets) else message,
            errno=info(pycurl.OS_ERRNO),
            port=self._order.port,
            proxied=way.proxy is not None,
            denied=self._denied,
            opened=self._opened,
            answered=self._head.complete,
            seconds=info(pycurl.TOTAL_TIME),
            connected=info(pycurl.CONNECT_TIME) > 0,
            looked_up=info(pycurl.NAMELOOKUP_TIME) > 0,
        )

    # What libcurl calls. An exception must not leave these: it would be printed, not raised.

    def _on_open(self, _purpose: int, address: Any) -> Any:
        family, kind, protocol, place = address
        order = self._order
        # A proxy stands where the operator has put it, and that may be a private network.
        admitted = order.way.proxy is not None or self._guard.admits(place[0])
        if family not in (socket.AF_INET, socket.AF_INET6) or place[1] != order.port or not admitted:
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

    def _on_header(self, line: bytes) -> int | None:  # None says that all is well
        try:
            if self._head.add(line):
                self._begin_body()
        except (RehiError, OSError) as error:
            self._trouble = error if isinstance(error, RehiError) else _out_of_room(error)
            return 0
        return None

    def _begin_body(self) -> None:
        head, order = self._head, self._order
        if head.status in _BODILESS:
            return
        coding, checksums = [], []
        for name, value in head.headers:
            lowered = name.lower()
            if lowered == "content-encoding":
                coding.append(value)
            elif lowered == "content-length" and order.cut_at is None:
                _check_length(value, order.max_bytes)
            elif lowered in CHECKSUM_HEADERS and head.status == 200:
                checksums.append((name, value))
        self._body = Body(
            content_encoding=",".join(coding),
            max_bytes=order.max_bytes,
            cut_at=order.cut_at,
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
            self._trouble = error if isinstance(error, RehiError) else _out_of_room(error)
            return 0
        return 0 if body.cut else None


def _check_length(value: str, max_bytes: int) -> None:
    if value.isdecimal() and int(value[:20]) > max_bytes:
        raise TooLarge(f"the body has {value[:20]} bytes, and no more than {max_bytes:,} are allowed")


def _out_of_room(error: OSError) -> DiskFull:
    reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or "writing failed").lower()
    return DiskFull(f"a body could not be put into a temporary file: {reason}")
