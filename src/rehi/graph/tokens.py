"""The tokens of a SPARQL query: enough of them to tell its words from what stands in strings, IRIs and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class TokenKind(StrEnum):
    """What a token is."""

    STRING = "string"
    OPEN = "open"  # a string that does not end
    IRI = "iri"
    COMMENT = "comment"
    SPACE = "space"
    VARIABLE = "variable"
    LANGUAGE = "language"
    BLANK = "blank"
    NAME = "name"  # prefix:local
    NUMBER = "number"
    WORD = "word"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query, and where it begins."""

    kind: TokenKind
    text: str
    start: int

    @property
    def prefix(self) -> str:
        """What stands before the colon of a name."""
        return self.text.partition(":")[0]


# Linear in the length of any text, however wild: an open string takes all that it could reach, so that it is scanned
# once, and a prefix has at most 100 characters. "?a<?b" is a comparison, though "<?b&&?c>" could be an IRI; no IRI
# that people write begins so.
_TOKEN = re.compile(
    r'''
    (?P<string>"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^'\\]|\\.|'(?!\'\'))*\'\'\'
              |"(?!"")(?:[^"\\\n\r]|\\.)*"|'(?!\'\')(?:[^'\\\n\r]|\\.)*')
    |(?P<open>"""(?:[^"\\]|\\.|"(?!""))*|\'\'\'(?:[^'\\]|\\.|'(?!\'\'))*
            |"(?:[^"\\\n\r]|\\.)*|'(?:[^'\\\n\r]|\\.)*)
    |(?P<iri><(?![?$=])(?:[^\x00-\x20<>"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>)
    |(?P<comment>\#[^\n\r]*)
    |(?P<space>\s+)
    |(?P<variable>[?$]\w+)
    |(?P<language>@[A-Za-z]+(?:-+[A-Za-z0-9]+)*)
    |(?P<blank>_:\w[\w.\-]*)
    |(?P<name>(?:[^\W\d_](?:[\w.\-]{0,98}[\w\-])?)?:(?:[\w:.\-]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])*)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>.)
    ''',
    re.VERBOSE | re.DOTALL,
)


def tokenise(query: str) -> Iterator[Token]:
    """The tokens in their order; nothing between them is left out."""
    for found in _TOKEN.finditer(query):
        yield Token(TokenKind(found.lastgroup or "sign"), found[0], found.start())


def place(query: str, offset: int) -> str:
    """An offset as people count: ``line 2, column 5``."""
    line = query.count("\n", 0, offset) + 1
    column = offset - (query.rfind("\n", 0, offset) + 1) + 1
    return f"line {line}, column {column}"
