"""How long servers ask us to wait, however they say it."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.fetch.retry_after import LONGEST, retry_after
from rehi.model.version import Digest
from rehi.model.visit import Answer

NOW = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


def _asked(*values: str, now: datetime = NOW) -> timedelta | None:
    answer = Answer(
        status=503,
        reason="",
        http_version="1.1",
        request_headers=(),
        headers=tuple(("retry-after", value) for value in values),
        address="",
        body=io.BytesIO(),
        size=0,
        digest=Digest(""),
    )
    return retry_after(answer, now=now)


@pytest.mark.parametrize(
    ("value", "seconds"), [("120", 120), (" 5 ", 5), ("0", 0), ("1.5", 1.5), ("-30", 0), ("+7", 7)]
)
def test_seconds_are_waited(value: str, seconds: float) -> None:
    assert _asked(value) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value",
    [
        "Sun, 06 Nov 1994 08:50:37 GMT",
        "Sun, 6 Nov 1994 8:50:37 GMT",
        "Sunday, 06-Nov-94 08:50:37 GMT",
        "Sun, 06-Nov-1994 08:50:37 UTC",
        "Sun Nov  6 08:50:37 1994",
        "Sun, 06 Nov 1994 10:50:37 +0200",
        "Sun, 06 Nov 1994 03:50:37 -0500",
        "sun, 06 nov 1994 08:50:37",
        "1994-11-06T08:50:37Z",
        "1994-11-06T10:50:37.123+02:00",
    ],
)
def test_a_date_is_waited_for_in_all_its_forms(value: str) -> None:
    assert _asked(value) == timedelta(minutes=1)


def test_two_digits_of_a_year_mean_one_from_1969_to_2068() -> None:
    now = datetime(2026, 12, 31, 23, 59, 0, tzinfo=UTC)
    assert _asked("Friday, 01-Jan-27 00:00:00 GMT", now=now) == timedelta(minutes=1)
    assert _asked("Sunday, 06-Nov-94 08:50:37 GMT", now=datetime(2026, 1, 1, tzinfo=UTC)) == timedelta()


def test_what_is_past_needs_no_waiting() -> None:
    assert _asked("Sat, 05 Nov 1994 08:49:37 GMT") == timedelta()


@pytest.mark.parametrize("value", ["99999999999", "9" * 5_000, "Sun, 06 Nov 9999 08:49:37 GMT", "604801"])
def test_nobody_keeps_us_away_for_longer_than_a_week(value: str) -> None:
    assert _asked(value) == LONGEST


@pytest.mark.parametrize(
    "value",
    [
        *("", "soon", "1e9", "nan", "inf", "1,5", "12 s", "0x10", "--5", "Sun", "GMT"),
        *("Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:00:00 GMT"),
        *("Sun, 06 Nov 1994 08:49:37 ZZZ", "Sun, 00 Nov 1994 08:49:37 GMT"),
    ],
)
def test_what_nobody_understands_says_nothing(value: str) -> None:
    assert _asked(value) is None


def test_without_the_header_there_is_nothing_to_wait_for() -> None:
    assert _asked() is None


@given(st.integers(0, int(LONGEST.total_seconds())), st.integers(0, 200_000_000_000))
def test_both_forms_say_the_same(seconds: int, moment: int) -> None:
    now = datetime.fromtimestamp(moment, UTC)
    until = now + timedelta(seconds=seconds)
    assert _asked(str(seconds), now=now) == timedelta(seconds=seconds)
    assert _asked(format_datetime(until, usegmt=True), now=now) == timedelta(seconds=seconds)
    assert _asked(until.strftime("%a %b %e %H:%M:%S %Y"), now=now) == timedelta(seconds=seconds)


@given(
    st.text(max_size=60)
    | st.from_regex(
        r"[A-Z][a-z]{2,7}, \d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d( [A-Z]{3}| [+-]\d{4})?", fullmatch=True
    )
)
def test_no_value_breaks_it(value: str) -> None:
    asked = _asked(value)
    assert asked is None or timedelta() <= asked <= LONGEST
