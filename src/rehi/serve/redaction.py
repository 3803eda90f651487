"""Redaction: what nobody on the network is told, wherever it turns up in an answer.

Errors of engines and of outsiders' parts may name anything: the data folder, the database's address, a password in it. What
leaves by HTTP passes here, pages and answers and problems; what is kept of the web is sent as it is.
"""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs, urlsplit

import orjson

from rehi.engine_address import hide_secrets
from rehi.settings import Settings

SHORTEST = 6  # characters; shorter words would be found where they mean something else
SECRET, FOLDER, ADDRESS = "***", "(data folder)", "(address)"


class Redactor:
    """Knows what is private in a house, and puts other words in its place."""

    def __init__(self, settings: Settings) -> None:
        words = dict.fromkeys(settings.secrets(), SECRET)
        for uri in (settings.catalogue, settings.graph, settings.archive.endpoint):
            words |= dict.fromkeys(_addresses(uri), ADDRESS)
        words |= dict.fromkeys((str(settings.data.resolve()), str(settings.data.absolute())), FOLDER)
        longest_first = sorted(words.items(), key=lambda pair: -len(pair[0]))
        self._words = [(word, shown) for word, shown in longest_first if len(word) >= SHORTEST]
        self._bytes = [
            (spelling, shown.encode()) for word, shown in self._words for spelling in dict.fromkeys(_spellings(word))
        ]

    def redact(self, text: str) -> str:
        """Return a text without what is private."""
        for word, shown in self._words:
            text = text.replace(word, shown)
        return text

    def redact_bytes(self, body: bytes) -> bytes:
        """Return the bytes of JSON or of a page without what is private."""
        for word, shown in self._bytes:
            body = body.replace(word, shown)
        return body


def _addresses(uri: str) -> list[str]:
    """Return how errors may name the place of an engine; nothing for one without a host, whose path is redacted by itself."""
    parts = urlsplit(uri)
    if not parts.hostname:
        return [uri, hide_secrets(uri), parts.path, *parse_qs(parts.query).get("host", [])]
    names = [uri.partition("://")[2], parts.netloc, parts.netloc.rpartition("@")[2]]
    if parts.password:
        names += [name.replace(f":{parts.password}@", ":***@") for name in names[:2]]
    return [*names, parts.hostname if "." in parts.hostname else ""]


def _spellings(word: str) -> list[bytes]:
    """Return the bytes of a word as text, in JSON and in HTML."""
    return [
        word.encode(errors="surrogateescape"),
        orjson.dumps(word.encode(errors="replace").decode())[1:-1],
        escape(word).encode(errors="replace"),
    ]
