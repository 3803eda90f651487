"""The gate: who may ask, and who may change something.

On loopback the person at this machine may do everything, so what must be kept out is other web pages in the same
browser: a foreign Host (DNS rebinding) or a foreign Origin (cross-site request) is refused. On any other address
everything that changes something needs the token as a bearer, or the session that the login page gives for it. The gate
decides by the path and the Host as they were sent, and never by a URL put together from both.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from time import monotonic
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

from rehi.operations.table import OPERATIONS
from rehi.settings import Settings

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE = "rehi_session"
_HOST = re.compile(r"(?P<name>[A-Za-z0-9_.\-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
SESSION_SECONDS = 12 * 3600.0
MOST_SESSIONS = 1_000
GUESS_SECONDS = 60.0
MOST_GUESSES = 10  # from one address, in that time
READ_BY_POST = frozenset(
    operation.path for operation in OPERATIONS if operation.method == "POST" and not operation.changes
)


class Gate:
    """Decides on each request, before anything else looks at it."""

    def __init__(self, settings: Settings) -> None:
        self._token = settings.serve.token
        self.sessions, self.guesses = Sessions(), Guesses()
        self.on_loopback = _is_loopback(settings.serve.host)
        self._hosts = {"localhost", "127.0.0.1", "::1", settings.serve.host, urlsplit(settings.base).hostname or ""}

    def refusal(self, request: Request) -> HTTPException | None:
        """Return the error with which a request is refused; None if it may pass."""
        host = named_host(request)
        if host is None:
            return HTTPException(400, "send one header Host, with a name or an address and perhaps a port")
        if self.on_loopback and host not in self._hosts:
            return HTTPException(421, "this address is not served here; use http://localhost")
        if self._token and (bearer := _bearer(request)) is not None:
            try:
                self.guess(request, bearer)  # also where nothing is changed: a page shows whether it knows who asks
            except HTTPException as error:
                return error
        path = request.scope["path"]
        if request.method in SAFE or path in READ_BY_POST:
            return None
        if self._is_foreign(request):
            return HTTPException(403, "requests that change something must come from this page itself")
        if self.on_loopback and not self._token:
            return None
        if path == "/login" or self.knows(request):
            return None
        if not self._token:
            return HTTPException(403, "nothing can be changed over the network until the setting serve.token is set")
        return HTTPException(
            401,
            "this needs the token: send Authorization: Bearer …, or log in at /login",
            {"www-authenticate": "Bearer"},
        )

    def knows(self, request: Request) -> bool:
        """Whether the request carries the token, or a session that was given for it."""
        bearer = _bearer(request)
        if bearer is not None:
            return self.matches(bearer)
        return bool(self._token) and self.sessions.has(request.cookies.get(COOKIE, ""))

    def guess(self, request: Request, given: str) -> bool:
        """Whether this is the token; a wrong one is counted, and 429 is raised for an address from which too many came."""
        address = request.client.host if request.client else ""
        if self.guesses.are_too_many(address):
            wait = {"retry-after": f"{GUESS_SECONDS:.0f}"}
            raise HTTPException(429, "too many wrong tokens came from this address", wait)
        right = self.matches(given)
        if not right:
            self.guesses.note(address)
        return right

    def matches(self, given: str) -> bool:
        """Whether this is the token; the comparison takes the same time for every wrong one."""
        return bool(self._token) and hmac.compare_digest(given.encode(), self._token.encode())

    def may_change(self, request: Request) -> bool:
        """Whether the request may change something, so that the page shows the buttons for it."""
        return (self.on_loopback and not self._token) or self.knows(request)

    def _is_foreign(self, request: Request) -> bool:
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return True
        origin = request.headers.get("origin")
        return origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")


@dataclass(slots=True)
class Sessions:
    """Who has logged in; kept in memory, so that a new start ends all of them."""

    _ends: OrderedDict[bytes, float] = field(default_factory=OrderedDict)  # by digest, so that memory gives none away

    def begin(self) -> str:
        """Return the name of a new session, which nobody can guess."""
        name = secrets.token_urlsafe(32)
        self._ends[_digest(name)] = monotonic() + SESSION_SECONDS
        while len(self._ends) > MOST_SESSIONS:
            self._ends.popitem(last=False)
        return name

    def has(self, name: str) -> bool:
        """Whether there is such a session, and it has not ended."""
        return monotonic() < self._ends.get(_digest(name), 0.0)

    def end(self, name: str) -> None:
        """Forget a session."""
        self._ends.pop(_digest(name), None)


@dataclass(slots=True)
class Guesses:
    """Counts wrong tokens, so that nobody can try many."""

    _wrong: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)  # by address, the newest last

    def are_too_many(self, address: str) -> bool:
        """Whether an address has given so many wrong tokens in the last minute that it has to wait."""
        wrong = self._wrong.get(address, deque())
        while wrong and monotonic() - wrong[0] > GUESS_SECONDS:
            wrong.popleft()
        return len(wrong) >= MOST_GUESSES

    def note(self, address: str) -> None:
        """Note a wrong token."""
        self._wrong.setdefault(address, deque(maxlen=MOST_GUESSES)).append(monotonic())
        self._wrong.move_to_end(address)
        while len(self._wrong) > MOST_SESSIONS:
            self._wrong.popitem(last=False)


def named_host(request: Request) -> str | None:
    """Return the host that a request names, without its port; None if it names none, several, or what is no host."""
    given = request.headers.getlist("host")
    match = _HOST.fullmatch(given[0]) if len(given) == 1 else None
    return match["name"].strip("[]").lower() if match else None


def _bearer(request: Request) -> str | None:
    """Return the token that a request carries in its header, right or wrong; None if it carries none."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else None


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
