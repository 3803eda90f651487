"""The tokens of a SPARQL query: they tell its keywords from what stands in strings, IRIs and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class TokenKind(StrEnum):
    """The kinds of tokens."""

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
class SparqlToken:
    """A piece of a query, and where it begins."""

    kind: TokenKind
    text: str
    start: int

    @property
    def prefix(self) -> str:
        """The prefix of a prefixed name."""
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


def tokenise(query: str) -> Iterator[SparqlToken]:
    """Yield the tokens of a query in order; together they are the whole text."""
    for match in _TOKEN.finditer(query):
        yield SparqlToken(TokenKind(match.lastgroup or "sign"), match[0], match.start())


def line_and_column(query: str, offset: int) -> str:
    """Return an offset as people count: ``line 2, column 5``."""
    line = query.count("\n", 0, offset) + 1
    column = offset - (query.rfind("\n", 0, offset) + 1) + 1
    return f"line {line}, column {column}"
