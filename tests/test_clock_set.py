"""The machine's clock is set between two harvests, or under one: everything is visited, and nothing is taken for gone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from rehi.app import House, utc_now
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.model.update import UpdateKind
from rehi.operations.sources import enter, read_in
from rehi.operations.updates import make_due
from rehi.pipeline.clock import SharedClock
from rehi.settings import load_settings
from tests.changing_site import ChangingSite

PAGES = 3


class HouseOffTime(House):
    """A house whose machine's clock is ahead."""

    ahead = timedelta()

    def shared_clock(self) -> SharedClock:
        return SharedClock(self.now, wall=self.now)

    def now(self) -> datetime:
        return utc_now() + self.ahead


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with ChangingSite(pages=PAGES) as site:
        yield site


@pytest.fixture
def house(tmp_path: Path, site: ChangingSite) -> Iterator[HouseOffTime]:
    settings = load_settings(
        data=tmp_path / "data",
        fetch={"allow_private": ["127.0.0.0/8"], "ports": [site.port], "delay": 0.01, "soft_errors": False},
        work={"workers": 1, "enrich": False, "graph": False},
    )
    house = HouseOffTime(settings)
    with house:
        log = house.settings.data / "pages.txt"
        log.write_text("".join(f"{url}\n" for url in site.urls))
        read_in(house, enter(house, str(log)).id)
        yield house


def update(house: House, site: ChangingSite) -> None:
    """Do what `rehi update` does; one that visits again and again is stopped."""
    most = site.requests + 5 * PAGES
    with house.working() as harvest:
        make_due(house)
        harvest.run(until_idle=True, stopped=lambda: site.requests > most, kind=UpdateKind.ORDERED)


def clock_problem(house: House) -> str:
    problems, _ = house.catalogue.problems(stage=Stage.SERVICE, page=Page())
    return next((problem.message for problem in problems if problem.code == "clock-jumped"), "")


@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(days=4000)], ids=["an hour", "years"])
def test_a_clock_that_goes_back_keeps_nothing_from_being_visited_and_the_last_visit_is_what_is_shown(
    house: HouseOffTime, site: ChangingSite, back: timedelta
) -> None:
    house.ahead = back
    update(house, site)
    assert (site.requests, clock_problem(house)) == (PAGES, "")
    before = {path: set(digests) for path, digests in site.said.items()}
    house.ahead = timedelta()
    update(house, site)
    assert site.requests == 2 * PAGES
    assert "the clock was set back" in clock_problem(house)
    for url in site.urls:
        path = url.removeprefix(site.origin)
        versions = sorted(house.catalogue.versions(url), key=lambda version: version.taken_at)
        assert [version.number for version in versions] == [1, 2]
        assert {versions[-1].digest} == site.said[path] - before[path]
        shown = house.catalogue.document(url)
        assert (shown.versions, shown.changed_at) == (2, versions[-1].taken_at)
        assert house.reading(shown.resource_id)
    update(house, site)
    assert site.requests == 3 * PAGES
    assert clock_problem(house) == ""


def test_a_clock_that_jumps_ahead_under_a_harvest_makes_nothing_gone(house: HouseOffTime, site: ChangingSite) -> None:
    update(house, site)
    missing = site.urls[0]
    site.remove("/0")
    update(house, site)
    update(house, site)
    with house.working() as harvest:
        house.ahead = timedelta(days=400)
        make_due(house)
        harvest.run(until_idle=True, stopped=lambda: False)
    assert re.search("the clock was set ahead by (400|399) days", clock_problem(house))  # less what the look takes
    assert house.catalogue.document(missing).state == "failed"
    update(house, site)
    assert house.catalogue.document(missing).state == "failed"
    assert len(house.catalogue.versions(missing)) == 1
    house.ahead += timedelta(days=400)  # these have passed, as far as anybody knows
    update(house, site)
    assert house.catalogue.document(missing).state == "gone"


def test_a_harvest_without_end_ends_when_the_clock_was_set_so_that_it_is_begun_again(
    house: HouseOffTime, site: ChangingSite
) -> None:
    turns: list[int] = []
    with house.working() as harvest:
        house.ahead = -timedelta(hours=1)
        harvest.run(until_idle=False, stopped=lambda: len(turns) > 100, on_turn=lambda _: turns.append(1))
        assert (harvest.clock_jumped, turns) == (True, [1])
    update(house, site)
    assert "the clock was set back by" in clock_problem(house)  # an hour, less what the way here has taken
