"""Rules for what is kept: what they say, what they let go, and what can't be understood."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rehi.errors import SettingsError
from rehi.model.retention import HeldVersion, Rule, parse_rule, versions_to_prune

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def held(*days: float, waiting: frozenset[int] = frozenset(), current: int = -1) -> list[HeldVersion]:
    """Versions taken so many days after the first of January, numbered from 1."""
    last = len(days) if current < 0 else current
    return [
        HeldVersion(number, number, START + timedelta(days=day), number == last, number in waiting)
        for number, day in enumerate(days, 1)
    ]


def dropped(rule: str, versions: list[HeldVersion]) -> list[int]:
    return [version.id for version in versions_to_prune(parse_rule(rule), versions)]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("", "all"),
        ("ALL", "all"),
        ("last 5", "last 5"),
        ("  Last   3 ", "last 3"),
        ("one per day", "one per day"),
        ("one per year and last 2 and one per month", "last 2 and one per month and one per year"),
        ("last 2 and last 9", "last 9"),
        ("one per week and one per week", "one per week"),
        ("references", "references"),
    ],
)
def test_a_rule_has_one_plain_form_that_means_the_same(said: str, meant: str) -> None:
    assert str(parse_rule(said)) == meant
    assert parse_rule(meant) == parse_rule(said)


@pytest.mark.parametrize(
    "said",
    ["last", "last 0", "last -1", "last 1.5", "last 99999999", "one per hour", "one", "references and last 5", "all and last 5",
     "last 5 or one per day", "last 5 and", "and", "5", "x" * 10_000, "last ٥", "last 5; DROP TABLE blob"],
    ids=lambda said: said[:20].encode("ascii", "backslashreplace").decode(),
)  # fmt: skip
def test_what_is_no_rule_is_refused_with_what_there_is(said: str) -> None:
    with pytest.raises(SettingsError, match="is no rule for what is kept; there are"):
        parse_rule(said)


def test_nothing_goes_without_a_rule() -> None:
    assert Rule().keeps_all
    assert dropped("", held(*range(100))) == []


def test_the_last_ones_are_kept() -> None:
    assert dropped("last 2", held(1, 2, 3, 4)) == [1, 2]
    assert dropped("last 4", held(1, 2, 3, 4)) == []
    assert dropped("last 1", held(1)) == []


def test_the_last_of_each_period_is_kept() -> None:
    days = held(0, 0.1, 0.2, 1, 1.1, 40, 400)
    assert dropped("one per day", days) == [1, 2, 4]
    assert dropped("one per month", days) == [1, 2, 3, 4]
    assert dropped("one per year", days) == [1, 2, 3, 4, 5]


def test_a_week_begins_on_monday_and_may_cross_the_year() -> None:
    sunday, monday = 3, 4  # the 4th and the 5th of January 2026
    assert dropped("one per week", held(-1, 0, sunday, monday)) == [1, 2]


def test_periods_are_those_of_universal_time() -> None:
    tallinn = held(0, 0.4)  # noon, and 21:36 UTC, which is 23:36 in Tallinn
    assert dropped("one per day", tallinn) == [1]
    assert dropped("one per day", held(0, 0.51)) == []


def test_parts_of_a_rule_keep_together() -> None:
    versions = held(0, 1, 2, 40, 41, 42)
    assert dropped("last 2 and one per month", versions) == [1, 2, 4]


def test_the_newest_is_always_kept_and_so_is_what_a_visit_is_compared_with() -> None:
    assert dropped("last 1", held(1, 2, 3, current=1)) == [2]


def test_what_waits_to_be_read_is_kept() -> None:
    waiting = frozenset({1, 4})
    assert dropped("last 1", held(1, 2, 3, 4, waiting=waiting)) == [2, 3]
    assert dropped("references", held(1, 2, 3, 4, waiting=waiting)) == [2, 3]


def test_of_references_even_the_newest_goes_once_it_was_read() -> None:
    assert dropped("references", held(1, 2)) == [1, 2]
    assert dropped("references", held(1, waiting=frozenset({1}))) == []
