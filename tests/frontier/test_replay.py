"""On histories of every kind, adaptive visits are no worse than uniform ones or the rule of the thesis."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from eval.revisit_replay import Entrant, ReplayScore, calibrate, clairvoyant, replay, sum_up
from eval.revisit_traces import Trace, hasten, made_up
from rehi.frontier.schedule import Sighting, plan_visit
from rehi.settings import RevisitSettings

UNIFORM = Entrant(name="uniform", policy="uniform")
ODARCHIVE = Entrant(name="odarchive", policy="odarchive")
ADAPTIVE = Entrant(name="adaptive", policy="adaptive")


def outcome(traces: list[Trace], entrant: Entrant, *, visits: int) -> ReplayScore:
    return sum_up(calibrate(traces, entrant, visits=visits))


@pytest.mark.parametrize("kind", ["poisson", "office", "weekly", "nightly", "sleeper"])
def test_adaptive_is_as_good_as_its_peers_on_every_kind_of_history(kind: str) -> None:
    traces = made_up(kind, pages=4, days=240)
    visits = 4 * 120  # one every second day
    ours, even, thesis = (outcome(traces, entrant, visits=visits) for entrant in (ADAPTIVE, UNIFORM, ODARCHIVE))
    assert ours.freshness >= max(even.freshness, thesis.freshness) - 0.04
    assert ours.caught >= max(even.caught, thesis.caught) - 0.05


def test_a_page_that_never_changes_costs_little() -> None:
    (tally,) = replay(made_up("still", pages=1), ADAPTIVE, price=1.0, longest=30 * 86_400)
    assert tally.visits < 60  # in a year


def test_a_page_that_changes_all_the_time_does_not_eat_the_budget() -> None:
    (tally,) = replay(made_up("restless", pages=1, days=60), ADAPTIVE, price=1.0, longest=30 * 86_400)
    assert tally.visits < 60 * 96  # every quarter of an hour would be too much of a good thing


def test_pages_of_every_kind_together_are_fresher_at_equal_visits() -> None:
    traces = [trace for kind in ("poisson", "office", "weekly", "sleeper", "still") for trace in made_up(kind, pages=3)]
    ours, even, thesis = (outcome(traces, entrant, visits=15 * 90) for entrant in (ADAPTIVE, UNIFORM, ODARCHIVE))
    assert ours.freshness > even.freshness
    assert ours.freshness > thesis.freshness
    assert ours.caught > even.caught


def test_taste_chooses_between_fresh_copies_and_versions() -> None:
    traces = [trace for kind in ("poisson", "office", "weekly", "still") for trace in made_up(kind, pages=4)]
    fresh, catching = (
        outcome(traces, Entrant(name="", policy="adaptive", taste=taste), visits=16 * 60) for taste in (0.0, 1.0)
    )
    assert fresh.freshness > catching.freshness
    assert catching.caught > fresh.caught


def test_a_price_means_about_as_many_visits_at_every_taste() -> None:
    traces = [trace for kind in ("poisson", "office", "weekly", "still") for trace in made_up(kind, pages=4)]
    middle, *others = (
        sum(
            tally.visits
            for tally in replay(
                traces, Entrant(name="", policy="adaptive", taste=taste), price=1.0, longest=30 * 86_400
            )
        )
        for taste in (0.5, 0.0, 0.75, 1.0)
    )
    assert all(0.7 * middle < visits < 1.4 * middle for visits in others), (middle, others)


def test_a_world_that_changes_daily_is_visited_as_freshly_as_by_even_visits_with_the_bounds_that_ship() -> None:
    kinds = ("poisson", "office", "sleeper", "still")
    traces = hasten([trace for kind in kinds for trace in made_up(kind, pages=4)], 20.0)
    longest, visits = RevisitSettings().longest, 16 * 25

    def outcome_of(entrant: Entrant) -> ReplayScore:
        return sum_up(calibrate(traces, entrant, visits=visits, longest=longest))

    ours, even = outcome_of(ADAPTIVE), outcome_of(UNIFORM)
    catching = outcome_of(Entrant(name="", policy="adaptive", taste=1.0))
    assert (
        ours.freshness >= even.freshness - 0.02
    )  # it was .09 less while the price of a version was the same everywhere
    assert catching.caught >= ours.caught


def test_nobody_beats_the_clairvoyant() -> None:
    traces = made_up("poisson")
    best = clairvoyant(traces, visits=500)
    ours = outcome(traces, ADAPTIVE, visits=500)
    assert ours.freshness < best.freshness
    assert ours.caught <= best.caught


def test_a_plan_takes_microseconds() -> None:
    settings, at = RevisitSettings(), datetime(2026, 3, 2, tzinfo=UTC)
    history = host = b""
    started = time.process_time()
    for number in range(2_000):
        at += timedelta(hours=7)
        made = plan_visit(
            Sighting(url="http://a.test/", at=at, changed=number % 3 == 0), policy="adaptive", history=history,
            host_history=host, weight=1.0, price=1.0, settings=settings, time_zone=UTC,
        )  # fmt: skip
        history, host = made.history, made.host_history
    assert (time.process_time() - started) / 2_000 < 500e-6  # measured: a tenth of it; machines differ
