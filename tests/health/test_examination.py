"""Each part of a small house is damaged: a quick look finds it, a deep one too, and both name the cure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rehi.app import House
from rehi.operations.health import HousePart, examine_house
from tests.health.conftest import settings_of
from tests.health.damage import WAYS, hole_in_archive


def parts(data: Path, *, deep: bool) -> set[HousePart]:
    """The parts that something ails."""
    with House(settings_of(data)) as house:
        return {ailment.part for seen in examine_house(house, deep=deep) for ailment in seen.ailments}


@pytest.mark.parametrize("deep", [False, True], ids=["quick", "deep"])
def test_nothing_ails_a_house_that_is_well(data: Path, deep: bool) -> None:
    with House(settings_of(data)) as house:
        seen = examine_house(house, deep=deep)
    assert [one.ailments for one in seen] == [()] * 4
    assert [one.part for one in seen] == [HousePart.CATALOGUE, HousePart.ARCHIVE, HousePart.DERIVED, HousePart.GRAPH]


def test_a_deep_look_reads_every_record(data: Path) -> None:
    hole_in_archive(data)
    assert HousePart.ARCHIVE in parts(data, deep=True)


@pytest.mark.parametrize("deep", [False, True], ids=["quick", "deep"])
@pytest.mark.parametrize(("part", "way"), WAYS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_what_is_damaged_is_found(data: Path, part: HousePart, way: Callable[[Path], None], deep: bool) -> None:
    way(data)
    with House(settings_of(data)) as house:
        ailments = [ailment for seen in examine_house(house, deep=deep) for ailment in seen.ailments]
    assert part in {ailment.part for ailment in ailments}
    assert all(ailment.why and "rehi doctor --mend" in ailment.cure for ailment in ailments)
