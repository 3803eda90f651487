"""Headers are read as they came; dates in every form they ever had, and written in one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.model.http import find_header, format_http_date, parse_headers, parse_http_date

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


@given(st.integers(-30_000_000_000, 250_000_000_000))
def test_what_is_written_can_be_read(seconds: int) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    assert parse_http_date(format_http_date(moment)) == moment


@given(st.text(max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    moment = parse_http_date(text)
    assert moment is None or moment.tzinfo is UTC


def test_headers_keep_their_order_and_spelling_and_folded_lines_are_joined() -> None:
    headers = parse_headers(
        [" nobody's", "Set-Cookie: a=1", "set-cookie:b=2 \t", "X-Long: one", "\ttwo", "no colon", "X: \xa0"]
    )
    assert headers == (
        ("Set-Cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("X-Long", "one two"),
        ("no colon", ""),
        ("X", "\xa0"),
    )
    assert find_header(headers, "SET-COOKIE") == "b=2"
    assert find_header(headers, "etag") == ""
