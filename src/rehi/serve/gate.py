"""The gate: who may ask, and who may change something.

On loopback the person at this machine may do everything, so what must be kept out is other web pages in the same
browser: a foreign Host (DNS rebinding) or a foreign Origin (cross-site request) is refused. On any other address
everything that changes something needs the token, as a bearer or in the cookie that the login page sets.
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

from rehi.operations.table import OPERATIONS
from rehi.settings import Settings

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE = "rehi_token"
READ_BY_POST = frozenset(
    operation.path for operation in OPERATIONS if operation.method == "POST" and not operation.changes
)


class Gate:
    """Decides on each request, before anything else looks at it."""

    def __init__(self, settings: Settings) -> None:
        self._token = settings.serve.token
        self.on_loopback = _is_loopback(settings.serve.host)
        self._hosts = {"localhost", "127.0.0.1", "::1", settings.serve.host, urlsplit(settings.base).hostname or ""}

    def refusal(self, request: Request) -> HTTPException | None:
        """Return the error with which a request is refused; None if it may pass."""
        if self.on_loopback and (request.url.hostname or "") not in self._hosts:
            return HTTPException(421, "this address is not served here; use http://localhost")
        if request.method in SAFE or request.url.path in READ_BY_POST:
            return None
        if self._is_foreign(request):
            return HTTPException(403, "requests that change something must come from this page itself")
        if self.on_loopback and not self._token:
            return None
        if request.url.path == "/login" or self.knows(request):
            return None
        if not self._token:
            return HTTPException(403, "nothing can be changed over the network until the setting serve.token is set")
        return HTTPException(
            401,
            "this needs the token: send Authorization: Bearer …, or log in at /login",
            {"www-authenticate": "Bearer"},
        )

    def knows(self, request: Request) -> bool:
        """Whether the request carries the token."""
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        given = value.strip() if scheme.lower() == "bearer" else request.cookies.get(COOKIE, "")
        return self.matches(given)

    def matches(self, given: str) -> bool:
        """Whether this is the token; the comparison takes the same time for every wrong one."""
        return bool(self._token) and hmac.compare_digest(given.encode(), self._token.encode())

    def may_change(self, request: Request) -> bool:
        """Whether to show the buttons."""
        return (self.on_loopback and not self._token) or self.knows(request)

    def _is_foreign(self, request: Request) -> bool:
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return True
        origin = request.headers.get("origin")
        return origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
