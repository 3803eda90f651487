"""Robots: what a host's robots.txt allows us (RFC 9309)."""

from __future__ import annotations

import logging
import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from rehi.errors import AddressDenied, RedirectLoop
from rehi.model.visit import Robots, Visit

PRODUCT = "rehi"  # the name by which a robots.txt addresses us
MAX_BYTES = 500 * 1024  # of a robots.txt; the rest is left, as RFC 9309 permits
_CACHED_CHARACTERS = 32_768  # longer ones are rare, and a thousand times the size of an ordinary one once parsed
_AGENT = re.compile(r"\s*user(?:-|\s+)?agent(?=[\s:])[\s:]*(.*)", re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(r"[a-z_-]*")
_OTHERS = "x-not-us"


class RobotRules:
    """The rules for one agent."""

    def __init__(self, robots: Robots, product: str = PRODUCT) -> None:
        self.deferred = robots.status == 0 or robots.status >= 500
        self._product = product.lower()
        self._rules: Any = None
        if 200 <= robots.status < 300:
            text = robots.text[:MAX_BYTES]
            parse = _parse_cached if len(text) <= _CACHED_CHARACTERS else _parse
            self._rules = parse(text, self._product)

    def allows(self, url: str) -> bool:
        """Whether the URL may be visited; robots.txt itself always may, and nothing else on a deferred host."""
        path = url.partition("#")[0].partition("?")[0].partition("://")[2].partition("/")[2]
        if path == "robots.txt":
            return True
        if self._rules is None:
            return not self.deferred
        try:
            return bool(self._rules.can_fetch(url, self._product))
        except ValueError:  # a URL that the parser can't take apart
            return False

    @property
    def crawl_delay(self) -> float | None:
        """Seconds that the host asks us to wait between two requests."""
        delay = self._rules.crawl_delay(self._product) if self._rules is not None else None
        return None if delay is None else float(delay)


def robots_url(origin: str) -> str:
    """Where the rules of an origin stand."""
    return f"{origin.rstrip('/')}/robots.txt"


def read_robots(visit: Visit, now: datetime) -> Robots:
    """What a visit to a robots.txt amounts to. The answer's body is read and closed."""
    answer = visit.answer
    if answer is None:
        # RFC 9309: redirects without end count as if there were no robots.txt, and not as a host in trouble. What the
        # guard forbids must not defer the host either, or its pages would never be told apart from those of a sick one.
        status = 404 if isinstance(visit.error, RedirectLoop | AddressDenied) else 0
        return Robots(status=status, text="", fetched_at=now)
    with answer.body as body:
        text = body.read(MAX_BYTES).decode("utf-8", "replace") if 200 <= answer.status < 300 else ""
    return Robots(status=answer.status, text=text.removeprefix("\ufeff").replace("\x00", ""), fetched_at=now)


def _parse(text: str, product: str) -> Any:
    from protego import Protego

    rules = _addressed(text, product)
    try:
        return Protego.parse(rules)
    except Exception as error:  # the file is anybody's and the parser is foreign: what it can't read says nothing
        logging.getLogger(__name__).warning("a robots.txt that begins %r can't be read: %r", text[:80], error)
        return None


_parse_cached = lru_cache(maxsize=256)(_parse)


def _addressed(text: str, product: str) -> str:
    """The file with three agents at most: us, everybody, others.

    The parser copies every rule to every agent of its group: 15,000 agents above 20,000 rules fit into 500 KiB and
    would fill the memory. And it takes "re" for a name of rehi.
    """
    lines = []
    for line in text.removeprefix("\ufeff").splitlines():
        bare = line.partition("#")[0]
        match = _AGENT.match(bare)
        lines.append(f"User-agent: {_agent(match[1].strip().lower(), product)}" if match else bare)
    return "\n".join(lines)


def _agent(value: str, product: str) -> str:
    if value == "*" or value[:2] in ("* ", "*\t"):
        return "*"
    token = _TOKEN.match(value)
    return product if token is not None and token[0] == product else _OTHERS
