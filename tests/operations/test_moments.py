"""Moments as people and web archives write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rehi.errors import SettingsError
from rehi.operations.moments import digits_of, parse_moment


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", "2026-01-01T00:00:00", "2026-12-31T23:59:59.999999"),
        ("2024-02", "2024-02-01T00:00:00", "2024-02-29T23:59:59.999999"),
        ("2026-12", "2026-12-01T00:00:00", "2026-12-31T23:59:59.999999"),
        ("2026-03-01", "2026-03-01T00:00:00", "2026-03-01T23:59:59.999999"),
        ("20260301", "2026-03-01T00:00:00", "2026-03-01T23:59:59.999999"),
        ("2026030112", "2026-03-01T12:00:00", "2026-03-01T12:59:59.999999"),
        ("2026-03-01 12:30", "2026-03-01T12:30:00", "2026-03-01T12:30:59.999999"),
        ("2026-03-01T12:30:05Z", "2026-03-01T12:30:05", "2026-03-01T12:30:05.999999"),
        ("2026-03-01T12:30:05.25+02:00", "2026-03-01T10:30:05.250000", "2026-03-01T10:30:05.259999"),
        ("2026-03-01T12:30-0230", "2026-03-01T15:00:00", "2026-03-01T15:00:59.999999"),
        ("20260301123005", "2026-03-01T12:30:05", "2026-03-01T12:30:05.999999"),
        ("20260301123005000007", "2026-03-01T12:30:05.000007", "2026-03-01T12:30:05.000007"),
    ],
)
def test_a_moment_is_its_beginning_or_its_end(text: str, start: str, end: str) -> None:
    assert parse_moment(text, end=False) == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert parse_moment(text) == datetime.fromisoformat(end).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "2026-13-01", "2026-02-30", "20260230", "26-03-01", "2026-3-1", "20260", "9" * 21, "9999",
        "0000", "2026-03-01T25:00", "2026-03-01T12:30+99:00", "２０２６", "2026-03-01\n2026",
    ],
)  # fmt: skip
def test_what_is_no_moment_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(SettingsError, match="2026-03-01"):
        parse_moment(text)


def test_digits_lead_back_to_the_moment() -> None:
    moment = datetime(987, 3, 1, 2, 4, 6, 8, tzinfo=UTC)
    assert digits_of(moment) == "09870301020406"
    assert parse_moment(digits_of(moment, fine=True)) == moment
