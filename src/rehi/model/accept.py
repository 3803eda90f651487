"""The header Accept: which media types a client takes, and how gladly (RFC 9110)."""

from __future__ import annotations

from collections.abc import Sequence

MOST_RANGES = 100  # of a header; browsers send about six

Ranges = Sequence[tuple[str, float]]  # media types, also with * in them, and their weights from 0 to 1


def parse_accept(header: str) -> Ranges:
    """Return the ranges that a header names; everything is taken if it names none."""
    ranges = []
    for part in header.split(",")[:MOST_RANGES]:
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if name:
            ranges.append((name, _weight(parameters)))
    return ranges or [("*/*", 1.0)]


def weigh(media_type: str, ranges: Ranges) -> float:
    """Return the weight of a media type by the most specific range that covers it; 0 if it is not taken."""
    for wanted in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        for name, weight in ranges:
            if name == wanted:
                return weight
    return 0.0


def names(media_type: str, header: str) -> bool:
    """Whether a header names this very media type, and does not refuse it."""
    return any(name == media_type and weight > 0 for name, weight in parse_accept(header))


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                return min(max(0.0, float(value)), 1.0)
            except ValueError:
                return 0.0
    return 1.0
