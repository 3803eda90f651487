"""Damage in our own archive is met while visits are kept: no site is charged with it, and what comes again is kept again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from rehi.app import House, utc_now
from rehi.errors import RecordDamaged, RecordLost
from rehi.model.listing import Page
from rehi.model.problem import Problem, Stage
from rehi.model.version import Version
from rehi.operations.health import mend
from rehi.operations.sources import enter, read_in
from rehi.operations.verification import verify_all
from rehi.pipeline import Progress
from rehi.testing.waiting import PATIENCE
from tests.test_visits import HTML, Reply, harvest, visited
from tests.warcs import members, response

SAME, CHANGING, TAGGED = "/same", "/changing", "/tagged"
LINES = [f"<p>Rida {number}: Anton Hansen Tammsaare sündis Albu vallas.</p>" for number in range(200)]


def url_of(path: str) -> str:
    return f"http://www.site.test{path}"


def versions_of(house: House, path: str) -> list[Version]:
    return list(house.catalogue.versions(url_of(path)))


def bytes_of(house: House, version: Version) -> bytes:
    with house.archive.open_body(version.body) as body:
        return body.read()


def problems_of(house: House, stage: Stage | None = None) -> list[Problem]:
    return list(house.catalogue.problems(stage=stage, page=Page(limit=100))[0])


class Pages:
    """A site with a page that stays, one that changes, and one that is asked for its tag."""

    def __init__(self) -> None:
        self.visits = 0

    def __call__(self, path: str) -> Reply:
        self.visits += 1
        if path == TAGGED and self.visits > 3:
            return 304, {"ETag": '"1"'}, b""
        return 200, HTML | ({"ETag": '"1"'} if path == TAGGED else {}), self.page(path)

    def page(self, path: str) -> bytes:
        rest = f"<p>{self.visits}</p>" if path == CHANGING else ""
        return f"<title>{path}</title>{''.join(LINES)}{rest}".encode()


def spoil(house: House, place: Callable[[Version], int]) -> None:
    """Write over 16 bytes of each record that holds a body."""
    for path in (SAME, CHANGING, TAGGED):
        ref = versions_of(house, path)[0].body
        file = house.archive_folder / ref.file
        raw = bytearray(file.read_bytes())
        start = ref.offset + place(versions_of(house, path)[0])
        raw[start : start + 16] = bytes(16)
        file.write_bytes(raw)


def spoil_beginnings(house: House) -> None:
    spoil(house, lambda _: 0)


def spoil_bodies(house: House) -> None:
    spoil(house, lambda version: version.body.length - 40)


def delete_files(house: House) -> None:
    for file in house.archive_folder.glob("*.warc.gz"):
        file.unlink()


def visit_again(house: House) -> None:
    for path in (SAME, CHANGING, TAGGED):
        house.catalogue.make_due(url=url_of(path), now=utc_now())
    harvest(house)


@pytest.mark.parametrize("way", [spoil_beginnings, spoil_bodies, delete_files], ids=lambda way: way.__name__)
def test_damage_of_our_own_is_charged_to_no_site_and_the_same_bytes_are_kept_again(
    tmp_path: Path, way: Callable[[House], None]
) -> None:
    site = Pages()
    with visited(tmp_path, site, [SAME, CHANGING, TAGGED]) as (house, _):
        harvest(house)
        (before,) = versions_of(house, SAME)
        way(house)
        visit_again(house)
        assert problems_of(house, Stage.FETCH) == []
        (after,) = versions_of(house, SAME)
        assert bytes_of(house, after) == site.page(SAME)
        assert after.body != before.body
        assert (after.taken_at, after.record) == (before.taken_at, before.record)
        changed = versions_of(house, CHANGING)[-1]
        assert changed.number == 2
        assert b"Rida 199" in bytes_of(house, changed)
        assert f"{before.body.file}:{before.body.offset}" not in {problem.subject for problem in problems_of(house)}
        lost = {fault.digest for fault in verify_all(house).faults if fault.digest is not None}
        assert after.digest not in lost


def test_what_is_unchanged_by_its_tag_is_asked_for_whole_once_its_bytes_were_seen_to_be_damaged(tmp_path: Path) -> None:
    pages = Pages()
    with visited(tmp_path, pages, [SAME, CHANGING, TAGGED]) as (house, site):
        harvest(house)
        spoil_beginnings(house)
        place = versions_of(house, TAGGED)[0].body
        ordered: list[int] = []

        def order_twice(progress: Progress) -> None:
            if progress.counts["visited"] == len(ordered) < 2:
                ordered.append(house.catalogue.make_due(url=url_of(TAGGED), now=utc_now()))

        end = monotonic() + PATIENCE
        with house.working() as work:
            work.run(
                until_idle=False,
                stopped=lambda: work.progress.counts["visited"] == 2 or monotonic() > end,
                on_turn=order_twice,
            )
        assert site.conditional == [TAGGED]  # the first time
        (problem,) = problems_of(house)
        assert (problem.subject, problem.code) == (f"{place.file}:{place.offset}", RecordDamaged.code)


def test_bytes_that_were_given_up_and_come_again_are_lost_no_more(tmp_path: Path) -> None:
    site = Pages()
    with visited(tmp_path, site, [SAME]) as (house, _):
        harvest(house)
        (before,) = versions_of(house, SAME)
        ref = before.body
        file = house.archive_folder / ref.file
        raw = bytearray(file.read_bytes())
        raw[ref.offset + ref.length - 40 : ref.offset + ref.length - 24] = bytes(16)
        file.write_bytes(raw)
        settings = house.settings
        mend(settings)
        lost = f"{ref.file}:{ref.offset}"
        assert (lost, RecordLost.code) in {(problem.subject, problem.code) for problem in problems_of(house)}
        house.catalogue.make_due(url=url_of(SAME), now=utc_now())
        harvest(house)
        assert bytes_of(house, versions_of(house, SAME)[0]) == site.page(SAME)
        assert problems_of(house) == []


@pytest.mark.parametrize("in_place", [False, True], ids=["copied", "adopted"])
def test_a_crawl_brings_bytes_back_that_were_damaged_here(tmp_path: Path, in_place: bool) -> None:
    site = Pages()
    with visited(tmp_path, site, [SAME]) as (house, _):
        harvest(house)
        (before,) = versions_of(house, SAME)
        file = house.archive_folder / before.body.file
        raw = bytearray(file.read_bytes())
        end = before.body.offset + before.body.length
        raw[end - 40 : end - 24] = bytes(16)
        file.write_bytes(raw)
        crawl = tmp_path / "crawl.warc.gz"
        crawl.write_bytes(
            members([response("http://a.ee/", site.page(SAME), "Content-Type: text/html; charset=utf-8")])
        )
        source = read_in(house, enter(house, str(crawl), in_place=in_place).id)
        assert source.counts.get("malformed", 0) == 0
        assert problems_of(house) == []
        (after,) = versions_of(house, SAME)
        assert bytes_of(house, after) == site.page(SAME)
        assert [fault for fault in verify_all(house).faults if fault.digest == after.digest] == []
