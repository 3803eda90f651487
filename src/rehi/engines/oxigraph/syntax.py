"""A syntax error: what Oxigraph's parser says, in a sentence for people."""

from __future__ import annotations

import re

_REPORT = re.compile(r"at (\d+):(\d+): (?:expected (?:one of )?(.*))?", re.DOTALL)
_REASON = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)+")  # "Prefix not found" among the signs and words it would have liked


def explain(error: SyntaxError, text: str) -> str:
    """What is wrong with a query, and where.

    The parser's position is where the longest of its attempts ended, so the mistake is there or some words earlier.
    """
    found = _REPORT.search(str(error))
    if found is None:
        return f"the query can't be read: {str(error)[:200]}"
    number, column, expected = int(found[1]), int(found[2]), (found[3] or "").split(", ")
    lines = text.split("\n")
    line = lines[min(number, len(lines)) - 1]
    column = min(column, len(line) + 1)
    near = line[max(column - 40, 0) : column + 10].strip()
    where = f"line {number}, column {column}"
    if number == 1 and line.startswith("PREFIX "):  # some may have been filled in here, which makes columns a riddle
        where = "line 1"
    return f"the query can't be read: it goes wrong at or before {where}, in {near!r}{_hint(expected)}"


def _hint(expected: list[str]) -> str:
    reasons = [item for item in expected if _REASON.fullmatch(item)]
    if reasons:
        return f" ({reasons[0][0].lower()}{reasons[0][1:]})"
    if len(expected) == 1 and (word := expected[0].strip('"')) and "[" not in word:
        return f" ({word} is missing)"
    return ""
