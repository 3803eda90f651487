"""A query: SPARQL text, checked and made ready for any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rehi.errors import QueryError
from rehi.graph.tokens import SparqlToken, TokenKind, line_and_column, tokenise
from rehi.graph.vocabulary import PREFIXES

LONGEST = 100_000  # bytes; queries of people and of programs have a few hundred

_IGNORED = (TokenKind.SPACE, TokenKind.COMMENT)
_UPDATES = frozenset({"INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH"})


class QueryKind(StrEnum):
    """What a query answers with."""

    SOLUTIONS = "solutions"  # SELECT
    BOOLEAN = "boolean"  # ASK
    TRIPLES = "triples"  # CONSTRUCT, DESCRIBE


_KINDS = {
    "SELECT": QueryKind.SOLUTIONS,
    "ASK": QueryKind.BOOLEAN,
    "CONSTRUCT": QueryKind.TRIPLES,
    "DESCRIBE": QueryKind.TRIPLES,
}


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query that may be asked."""

    text: str
    kind: QueryKind


def prepare_query(query: str) -> PreparedQuery:
    """Return the query with the well-known prefixes that it uses declared, and its kind; QueryError if it is not allowed.

    Lines keep their numbers. A query may change nothing, and it may not ask other servers: engines answer from what was
    harvested. The embedded engine also makes sure of that by other means, since SERVICE can be hidden from any tokeniser.
    """
    query = query.removeprefix("\ufeff")
    tokens = _tokens(query)
    kind = _kind(query, tokens)
    for token in tokens:
        if token.kind is TokenKind.OPEN:
            raise QueryError(f"the string that begins at {line_and_column(query, token.start)} does not end")
        if _may_be_service(token):
            raise QueryError(
                f"SERVICE at {line_and_column(query, token.start)}: a query can't ask other servers; "
                "only what was harvested is answered from"
            )
    missing = _missing_prefixes(query, tokens)
    declared = "".join(f"PREFIX {prefix}: <{PREFIXES[prefix]}> " for prefix in missing)
    return PreparedQuery(declared + query, kind)


def _tokens(query: str) -> list[SparqlToken]:
    try:
        size = len(query.encode())
    except UnicodeEncodeError as error:
        raise QueryError("the query holds half a character (a lone surrogate)") from error
    if size > LONGEST:
        raise QueryError(f"the query is {size:,} bytes long; {LONGEST:,} are allowed")
    return [token for token in tokenise(query) if token.kind not in _IGNORED]


def _kind(query: str, tokens: Sequence[SparqlToken]) -> QueryKind:
    verb = next(iter(tokens[_prologue_end(tokens) :]), None)
    if verb is None:
        raise QueryError("the query is empty; it begins with SELECT, ASK, CONSTRUCT or DESCRIBE")
    word = verb.text.upper()
    if word in _UPDATES:
        raise QueryError(f"{word} at {line_and_column(query, verb.start)} is an update; only queries are answered here")
    if word not in _KINDS:
        raise QueryError(
            f"a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE, not with {verb.text[:40]!r} "
            f"({line_and_column(query, verb.start)})"
        )
    return _KINDS[word]


def _prologue_end(tokens: Sequence[SparqlToken]) -> int:
    at = 0
    while at < len(tokens) and tokens[at].kind is TokenKind.WORD:
        match tokens[at].text.upper():
            case "PREFIX":
                at += 3
            case "BASE" | "VERSION":
                at += 2
            case _:
                break
    return at


def _may_be_service(token: SparqlToken) -> bool:
    """Whether a parser may read a token as SERVICE, also where words run together, as in ``1SERVICE:a`` or ``trueSERVICE``."""
    match token.kind:
        case TokenKind.WORD | TokenKind.LANGUAGE:
            return "service" in token.text.lower()
        case TokenKind.NAME:
            return "service" in token.prefix.lower()
        case TokenKind.IRI:  # "(?a<5)SERVICE#>": a comparison and a comment that look like an IRI
            return "service" in token.text.lower().partition(")")[2]
        case _:
            return False


def _missing_prefixes(query: str, tokens: Sequence[SparqlToken]) -> list[str]:
    end = _prologue_end(tokens)
    declared = {token.prefix for token in tokens[:end] if token.kind is TokenKind.NAME}
    missing: dict[str, None] = {}
    for token in tokens[end:]:
        if token.kind is not TokenKind.NAME or token.prefix in declared:
            continue
        if token.prefix not in PREFIXES:
            raise QueryError(
                f"the prefix {token.prefix + ':'!r} at {line_and_column(query, token.start)} is not declared; "
                f"begin the query with PREFIX {token.prefix}: <…>"
            )
        missing[token.prefix] = None
    return sorted(missing)
