"""Politeness: an operator's orders, the settings for a host, and hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.errors import SettingsError
from rehi.frontier import check_settings, host_name, parse_hours, politeness_for, zone_of
from rehi.frontier.politeness import MOST_STRAIN, Pace
from rehi.model.host import NO_ORDERS, HostOrders
from rehi.settings import FetchSettings, HostSettings, RevisitSettings, Settings

SETTINGS = FetchSettings(
    delay=1.0,
    hosts=[
        HostSettings(match="*.slow.test", delay=9.0, hours="20:00-06:00"),
        HostSettings(match="closed.test", leave_alone=True),
        HostSettings(match="*", connections=2),
    ],
)
TALLINN = ZoneInfo("Europe/Tallinn")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("origin", "orders", "delay", "connections", "left_alone"),
    [
        ("https://www.slow.test:8443", NO_ORDERS, 9.0, 1, ""),
        ("https://slow.test", NO_ORDERS, 1.0, 2, ""),
        ("http://www.slow.test", HostOrders(delay=2.5, connections=4), 2.5, 4, ""),
        ("http://closed.test", NO_ORDERS, 1.0, 1, "by the settings"),
        ("http://other.test", HostOrders(left_alone=True, why="they asked"), 1.0, 2, "by order: they asked"),
    ],
)
def test_orders_hold_against_the_settings_and_the_first_match_against_the_rest(
    origin: str, orders: HostOrders, delay: float, connections: int, left_alone: str
) -> None:
    politeness = politeness_for(origin, orders, settings=SETTINGS, time_zone=UTC)
    assert (politeness.pace.own, politeness.connections, politeness.left_alone) == (delay, connections, left_alone)


@pytest.mark.parametrize(
    ("origin", "name"),
    [("https://a.ee", "a.ee"), ("http://a.ee:8080", "a.ee"), ("http://[::1]", "[::1]"), ("http://[::1]:80", "[::1]")],
)
def test_a_hosts_name_has_neither_scheme_nor_port(origin: str, name: str) -> None:
    assert host_name(origin) == name


@pytest.mark.parametrize(
    ("hours", "now", "opens", "closes"),
    [
        ("20:00-06:00", "2026-03-02 08:00", "2026-03-02 20:00", None),
        ("20:00-06:00", "2026-03-02 20:00", "2026-03-02 20:00", "2026-03-03 06:00"),
        ("20:00-06:00", "2026-03-03 05:59", "2026-03-03 05:59", "2026-03-03 06:00"),
        ("sat-sun 00:00-24:00", "2026-03-02 08:00", "2026-03-07 00:00", None),
        ("sat-sun 00:00-24:00", "2026-03-07 08:00", "2026-03-07 08:00", "2026-03-09 00:00"),
        ("fri-mon 10:00-11:00", "2026-03-03 08:00", "2026-03-06 10:00", None),
        ("mon 9:00-10:00, tue 10:00-11:00", "2026-03-02 10:00", "2026-03-03 10:00", None),
    ],
)
def test_hours_open_and_close(hours: str, now: str, opens: str, closes: str | None) -> None:
    parsed = parse_hours(hours, UTC)
    assert parsed is not None
    assert parsed.opens_at(moment(now)) == moment(opens)
    assert parsed.closes_at(moment(now)) == (moment(closes) if closes else None)


def test_hours_go_by_the_clocks_of_their_place_also_when_these_change() -> None:
    parsed = parse_hours("20:00-06:00", TALLINN)
    assert parsed is not None
    assert parsed.opens_at(moment("2026-03-02 12:00")) == moment("2026-03-02 18:00")
    assert parsed.opens_at(moment("2026-03-29 12:00")) == moment("2026-03-29 17:00")  # summer time since that morning
    assert parsed.closes_at(moment("2026-03-28 22:00")) == moment("2026-03-29 03:00")


@given(st.integers(0, 10 * 365 * 1440), st.integers(0, 1439), st.integers(0, 1439))
def test_whatever_the_hours_the_next_opening_is_open_and_not_far(minutes: int, start: int, end: int) -> None:
    if start == end:
        return
    now = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    parsed = parse_hours(f"{start // 60}:{start % 60:02}-{end // 60}:{end % 60:02}", TALLINN)
    assert parsed is not None
    opens = parsed.opens_at(now)
    assert parsed.closes_at(opens) is not None
    assert timedelta() <= opens - now <= timedelta(hours=25)


@pytest.mark.parametrize("text", ["8-9", "25:00-26:00", "08:00-08:00", "xyz 08:00-09:00", "08:61-09:00", "08:00"])
def test_hours_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="20:00-06:00"):
        parse_hours(text, UTC)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(fetch=FetchSettings(hosts=[HostSettings(match="*", hours="always")])),
        Settings(time_zone="Mars/Olympus"),
        Settings(time_zone="../etc"),
        Settings(revisit=RevisitSettings(policy="now and then")),
        Settings(revisit=RevisitSettings(schedule="every day")),
    ],
)
def test_settings_that_cannot_be_understood_are_refused_before_anything_is_visited(settings: Settings) -> None:
    with pytest.raises(SettingsError):
        check_settings(settings)


def test_the_time_zone_is_found() -> None:
    assert zone_of(Settings(time_zone="Europe/Tallinn")) == TALLINN


def test_an_overloaded_host_is_visited_more_slowly_and_a_recovered_one_as_before() -> None:
    pace = Pace(own=1.0, longest=60.0)
    slower = pace.tighten().tighten()
    assert slower.usual == 4.0
    for _ in range(10):
        slower = slower.relax()
    assert slower == pace
    for _ in range(20):
        pace = pace.tighten()
    assert pace.strain == MOST_STRAIN
    assert pace.usual == 60.0


@given(
    st.builds(
        Pace,
        own=st.floats(0, 100),
        asked=st.floats(0, 100),
        slow_factor=st.floats(0, 10),
        longest=st.floats(0, 100),
        strain=st.floats(1, MOST_STRAIN),
    ),
    st.floats(0, 1000),
)
def test_no_pause_is_shorter_than_what_is_owed_or_longer_than_needed(pace: Pace, seconds: float) -> None:
    pause = pace.pause_after(seconds)
    assert max(pace.own, pace.asked) <= pause <= max(pace.own, pace.asked, pace.longest)
    assert pace.tighten().pause_after(seconds) >= pause
