"""The schedule spreads revisits and waits longer after each failure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rehi.errors import BadStatus, RobotsDenied
from rehi.frontier import next_visit, wait_after_failures
from rehi.settings import FetchSettings

NOW = datetime(2026, 3, 2, tzinfo=UTC)
SETTINGS = FetchSettings(retry_after=100, revisit_after=10_000)


def due(url: str, *, failed: bool = False, failures: int = 0) -> float:
    error = BadStatus("the server answered 500") if failed else None
    moment = next_visit(url, error=error, failures=failures, now=NOW, settings=SETTINGS)
    return (moment - NOW).total_seconds()


def test_each_failure_doubles_the_wait_up_to_an_ordinary_revisit() -> None:
    waits = [due("http://a.test/", failed=True, failures=n) for n in range(10)]
    assert waits[:4] == [100, 200, 400, 800]
    assert waits[-1] == 10_000


def test_pages_first_seen_together_do_not_all_come_due_together() -> None:
    waits = [due(f"http://a.test/{n}") for n in range(200)]
    assert min(waits) >= 9_500
    assert max(waits) <= 10_500
    assert max(waits) - min(waits) > 800


def test_the_same_page_is_due_at_the_same_time_however_often_it_is_asked() -> None:
    assert due("http://a.test/x") == due("http://a.test/x")


def test_a_forbidden_page_is_looked_at_on_the_ordinary_schedule() -> None:
    moment = next_visit("http://a.test/", error=RobotsDenied("no"), failures=3, now=NOW, settings=SETTINGS)
    assert moment - NOW > timedelta(seconds=9_000)


def test_no_number_of_failures_overflows() -> None:
    assert wait_after_failures(10_000, settings=SETTINGS) == timedelta(seconds=10_000)
