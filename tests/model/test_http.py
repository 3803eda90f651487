"""Dates of HTTP are read in every form they ever had, and written in one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.model.http import format_http_date, parse_http_date

MOMENT = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "sun, 6 nov 1994 8:49:37 utc",
        "Sun, 06 Nov 1994 10:49:37 +0200",
        "06 Nov 1994 08:49:37",
    ],
)
def test_every_form_is_read(text: str) -> None:
    assert parse_http_date(text) == MOMENT


@pytest.mark.parametrize(
    "text",
    ["", "soon", "784111777", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 ZZZ"],
)  # fmt: skip
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_http_date(text) is None


def test_a_moment_is_written_in_utc_and_in_whole_seconds() -> None:
    there = MOMENT.astimezone(timezone(timedelta(hours=3))).replace(microsecond=999_999)
    assert format_http_date(there) == "Sun, 06 Nov 1994 08:49:37 GMT"


@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)))  # noqa: DTZ001
def test_what_is_written_can_be_read(moment: datetime) -> None:
    assert parse_http_date(format_http_date(moment)) == moment.replace(microsecond=0)


@given(st.text(max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    moment = parse_http_date(text)
    assert moment is None or moment.tzinfo is UTC
