"""A syntax error: the message of Oxigraph's parser, rewritten for people."""

from __future__ import annotations

import re

_REPORT = re.compile(r"at (\d+):(\d+): (?:expected (?:one of )?(.*))?", re.DOTALL)
_REASON = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)+")  # "Prefix not found" among the signs and words it would have liked


def explain(error: SyntaxError, text: str) -> str:
    """Return a message that says what is wrong with a query, and where.

    The parser's position is where the longest of its attempts ended, so the mistake is there or some words earlier.
    """
    report = _REPORT.search(str(error))
    if report is None:
        return f"the query can't be read: {str(error)[:200]}"
    number, column, expected = int(report[1]), int(report[2]), (report[3] or "").split(", ")
    lines = text.split("\n")
    line = lines[min(number, len(lines)) - 1]
    column = min(column, len(line) + 1)
    near = line[max(column - 40, 0) : column + 10].strip()
    position = f"line {number}, column {column}"
    if number == 1 and line.startswith(
        "PREFIX "
    ):  # prefixes may have been added to this line, so that the column would mislead
        position = "line 1"
    return f"the query can't be read: it goes wrong at or before {position}, in {near!r}{_hint(expected)}"


def _hint(expected: list[str]) -> str:
    reasons = [item for item in expected if _REASON.fullmatch(item)]
    if reasons:
        return f" ({reasons[0][0].lower()}{reasons[0][1:]})"
    if len(expected) == 1 and (word := expected[0].strip('"')) and "[" not in word:
        return f" ({word} is missing)"
    return ""
