"""The schedule keeps its bounds whatever it is told, and waits longer after each failure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.errors import SettingsError
from rehi.frontier.schedule import (
    Plan,
    Sighting,
    next_time,
    parse_policy,
    plan_rare,
    plan_retry,
    plan_visit,
    wait_after_failures,
)  # fmt: skip
from rehi.model.http import parse_http_date
from rehi.settings import FetchSettings, RevisitSettings

NOW = datetime(2026, 3, 2, tzinfo=UTC)
FETCH = FetchSettings(retry_after=100)
REVISIT = RevisitSettings(longest=10_000)
TALLINN = ZoneInfo("Europe/Tallinn")
MOVING = ("adaptive", "odarchive", "latency 15m")


def plan(
    *, url: str = "http://a.test/x", at: datetime = NOW, changed: bool | None = None, policy: str = "adaptive",
    history: bytes = b"", host: bytes = b"", price: float = 1.0, weight: float = 1.0, modified: str = "",
    promised: float = 0.0, revisit: RevisitSettings | None = None,
) -> Plan:  # fmt: skip
    return plan_visit(
        Sighting(url=url, at=at, changed=changed, last_modified=parse_http_date(modified), promised=promised), policy=policy,
        history=history, host_history=host, weight=weight, price=price, settings=revisit or RevisitSettings(),
        time_zone=TALLINN,
    )  # fmt: skip


def live(changes: list[bool], hours: list[float], policy: str, **given: object) -> tuple[Plan, datetime]:
    """The plan after a life of visits."""
    at, last = NOW, plan(policy=policy)
    for changed, wait in zip(changes, hours, strict=True):
        at += timedelta(hours=wait)
        last = plan(at=at, changed=changed, policy=policy, history=last.history, host=last.host_history)
    return last, at


lives = st.lists(st.tuples(st.booleans(), st.floats(0.25, 900)), min_size=1, max_size=12)


@given(lives, st.sampled_from(MOVING), st.floats(0, 1e7), st.floats(0.01, 100), st.floats(0, 1), st.booleans())
@settings(deadline=None)
def test_no_visit_comes_before_the_shortest_or_after_the_longest_interval(
    life: list[tuple[bool, float]], policy: str, price: float, weight: float, taste: float, changed: bool
) -> None:
    last, at = live([c for c, _ in life], [h for _, h in life], policy)
    bounds = RevisitSettings(shortest=1_800, longest=864_000, taste=taste)
    got = plan(
        at=at + timedelta(hours=3), changed=changed, policy=policy, history=last.history, host=last.host_history,
        price=price, weight=weight, revisit=bounds,
    )  # fmt: skip
    wait = (got.next_at - at).total_seconds() - 3 * 3_600
    assert 1_800 - 1e-3 <= wait <= 864_000 + 1e-3
    assert len(got.history) <= 300
    assert len(got.host_history) <= 300


@given(lives, st.sampled_from(MOVING), st.floats(0.01, 1e4), st.floats(1, 100), st.sampled_from((0.0, 0.5, 1.0)))
@settings(deadline=None)
def test_a_higher_price_never_brings_a_visit_sooner(
    life: list[tuple[bool, float]], policy: str, price: float, times: float, taste: float
) -> None:
    last, at = live([c for c, _ in life], [h for _, h in life], policy)
    at += timedelta(hours=5)
    cheap, dear = (
        plan(at=at, changed=False, policy=policy, history=last.history, host=last.host_history, price=p,
             revisit=RevisitSettings(taste=taste)).next_at
        for p in (price, price * times)
    )  # fmt: skip
    assert dear >= cheap - timedelta(milliseconds=1)


@given(st.binary(max_size=400), st.binary(max_size=400), st.sampled_from(MOVING), st.booleans(), st.integers(0, 5))
@settings(deadline=None)
def test_garbage_in_a_history_is_no_history(
    history: bytes, host: bytes, policy: str, changed: bool, version: int
) -> None:
    honest = plan(policy=policy)
    for page in (history, bytes([version]) + history, (bytes([version]) + history * 200)[: len(honest.history)]):
        for site in (host, (bytes([1]) + host * 200)[: len(honest.host_history)]):
            got = plan(changed=changed, policy=policy, history=page, host=site)
            assert timedelta(seconds=900) <= got.next_at - NOW <= timedelta(days=30)


@given(st.text(max_size=80) | st.sampled_from(("Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT")))
@settings(deadline=None)
def test_garbage_in_last_modified_never_raises(header: str) -> None:
    first = plan(modified=header)
    got = plan(
        at=NOW + timedelta(days=1), changed=True, history=first.history, host=first.host_history, modified=header
    )
    assert got.next_at > NOW + timedelta(days=1)


@given(lives, st.sampled_from(MOVING))
@settings(deadline=None)
def test_the_same_visits_give_the_same_plan(life: list[tuple[bool, float]], policy: str) -> None:
    changes, hours = [c for c, _ in life], [h for _, h in life]
    assert live(changes, hours, policy) == live(changes, hours, policy)


def test_a_page_that_changes_is_visited_sooner_than_one_that_does_not() -> None:
    for policy in MOVING:
        busy, at = live([True] * 8, [24.0] * 8, policy)
        calm, _ = live([False] * 8, [24.0] * 8, policy)
        assert busy.next_at - at < calm.next_at - at, policy


def test_a_source_of_weight_is_visited_more_often() -> None:
    last, at = live([True, False] * 4, [24.0] * 8, "adaptive")
    at += timedelta(days=1)
    heavy, light = (
        plan(at=at, changed=False, history=last.history, host=last.host_history, weight=w).next_at for w in (4.0, 0.25)
    )
    assert heavy < light


def test_a_promised_frequency_and_busy_siblings_bring_the_second_visit_forward() -> None:
    alone = plan(price=30.0).next_at
    assert plan(price=30.0, promised=86_400).next_at < alone
    busy, _ = live([True] * 20, [12.0] * 20, "adaptive")
    assert plan(price=30.0, host=busy.host_history).next_at < alone


def test_last_modified_tells_how_old_a_change_is() -> None:
    old = plan(modified="Wed, 01 Jan 2020 00:00:00 GMT").next_at
    new = plan(modified="Sun, 01 Mar 2026 23:00:00 GMT").next_at
    assert new < old


def test_a_page_that_always_changed_just_now_is_not_believed() -> None:
    assert plan(modified="Mon, 02 Mar 2026 00:00:00 GMT") == plan()
    assert plan(modified="Mon, 02 Mar 2027 00:00:00 GMT") == plan()


def test_a_nightly_page_is_visited_soon_after_its_hour() -> None:
    at, last, hits = NOW, plan(), []
    for number in range(400):
        before, at = at, last.next_at
        job = at.replace(hour=3, minute=20, second=0)
        job = job if job <= at else job - timedelta(days=1)
        changed = job > before
        last = plan(at=at, changed=changed, history=last.history, host=last.host_history, price=1.0)
        if number > 300:
            hits.append((at - job).total_seconds() / 3_600)
    assert sorted(hits)[len(hits) // 2] < 6


def test_fixed_jobs_keep_their_time_in_the_time_zone_and_are_spread_over_minutes() -> None:
    waits = {plan(url=f"http://a.test/{n}", policy="fixed 0 1 1 * *").next_at for n in range(100)}
    first = datetime(2026, 3, 31, 22, 0, tzinfo=UTC)  # 01:00 on 1 April in Tallinn, in summer time
    assert first <= min(waits) < max(waits) <= first + timedelta(minutes=10)
    assert max(waits) - min(waits) > timedelta(minutes=8)


def test_an_hour_that_summer_time_skips_or_repeats_comes_once() -> None:
    spring = datetime(2026, 3, 28, 12, tzinfo=UTC)
    days = [next_time("30 3 * * *", after=spring, time_zone=TALLINN)]
    for _ in range(2):
        days.append(next_time("30 3 * * *", after=days[-1], time_zone=TALLINN))
    assert [day.day for day in days] == [29, 30, 31]
    autumn = datetime(2026, 10, 24, 12, tzinfo=UTC)
    once = next_time("30 3 * * *", after=autumn, time_zone=TALLINN)
    assert next_time("30 3 * * *", after=once, time_zone=TALLINN) - once >= timedelta(hours=24)


@pytest.mark.parametrize("cron", ["", "* * *", "61 * * * *", "0 0 31 2 *", "x" * 10_000, "0 0 30 2 *"])
def test_a_bad_cron_expression_is_one_clear_sentence(cron: str) -> None:
    with pytest.raises(SettingsError, match=r"cron expression|never comes"):
        next_time(cron, after=NOW, time_zone=UTC)


@pytest.mark.parametrize(
    "text", ["", "weekly", "fixed", "fixed monthly", "latency", "latency 0m", "latency x", "adaptive 3"]
)
def test_a_bad_policy_is_one_clear_sentence(text: str) -> None:
    with pytest.raises(SettingsError, match="is no "):
        parse_policy(text)


def test_policies_are_read_as_people_write_them() -> None:
    assert parse_policy("latency 15m").latency == 900
    assert parse_policy(" fixed 0 1 1 * * ").cron == "0 1 1 * *"
    assert parse_policy("adaptive").name == "adaptive"


def test_the_rule_of_the_thesis_gives_its_example() -> None:
    from rehi.frontier.odarchive import plan_odarchive

    at, history, wait = 1e9, b"", 0.0
    for changed, interval in ((None, 0), (True, 5000), (False, 4600), (False, 6200), (True, 3800), (False, 5000)):
        at += interval
        wait, history = plan_odarchive(
            at=at, changed=changed, history=history, price=1.0, shortest=1.0, longest=1e9, share=0.5
        )
    assert wait == pytest.approx(12_300)


def test_a_feed_is_asked_at_its_set_point_while_active_and_at_most_twice_a_day_when_asleep() -> None:
    active, at = live([True] * 20, [0.25] * 20, "latency 15m")
    assert active.next_at - at <= timedelta(minutes=17)
    asleep, at = live([False] * 40, [12.0] * 40, "latency 15m")
    assert timedelta(hours=11) <= asleep.next_at - at <= timedelta(hours=13)


def test_each_failure_doubles_the_wait_up_to_the_longest_revisit() -> None:
    waits = [wait_after_failures(n, fetch=FETCH, revisit=REVISIT).total_seconds() for n in range(10)]
    assert waits[:4] == [100, 200, 400, 800]
    assert waits[-1] == 10_000
    assert wait_after_failures(10**9, fetch=FETCH, revisit=REVISIT) == timedelta(seconds=10_000)


def test_retries_and_rare_visits_are_spread_and_bounded() -> None:
    for failures in (0, 3, 50):
        waits = {
            (plan_retry(f"http://a.test/{n}", failures=failures, now=NOW, fetch=FETCH, revisit=REVISIT) - NOW)
            for n in range(200)
        }
        middle = min(100 * 2**failures, 10_000)
        assert 0.9 * middle <= min(waits).total_seconds() < max(waits).total_seconds() <= 1.06 * middle
    rare = [(plan_rare(f"http://a.test/{n}", now=NOW, revisit=REVISIT) - NOW).total_seconds() for n in range(200)]
    assert 9_000 <= min(rare) < max(rare) <= 10_000
