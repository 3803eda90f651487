"""What the catalogue promises of updates: what is made due, and what the visits of a round came to."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from rehi.errors import NotFound, RobotsDenied, WrongType
from rehi.frontier import HouseLeaseRules
from rehi.model.host import HostOrders
from rehi.model.listing import Page
from rehi.model.update import RUNNING, Update, UpdateKind, UpdateState, open_update
from rehi.model.visit import Outcome
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    NOW,
    add,
    at,
    failed,
    fetched,
    given_back,
    lease_one,
    record,
    redirected,
    unchanged,
)

A, B, C, D = "http://a.ee/", "http://b.ee/", "http://c.ee/", "https://a.ee:8443/"
NOTHING = {"visited": 0, "first": 0, "changed": 0, "unchanged": 0, "redirect": 0, "gone": 0, "problems": 0}


def _due(catalogue: Catalogue, when: float) -> list[str]:
    leases = catalogue.lease(worker="w", hosts=9, urls=9, ttl=1, now=at(when))
    return sorted(task.url for lease in leases for task in lease.tasks)


def _all_visited(catalogue: Catalogue, *urls: str) -> None:
    record(catalogue, [fetched(url, url, 0) for url in urls], [], worker="w", now=at(0))
    assert _due(catalogue, 1) == []


def _open(catalogue: Catalogue) -> Update | None:
    return open_update(catalogue.updates(RUNNING, running=True)[0])


class UpdatesContract:
    """What the port Workers promises of updates, and the port Frontier of the load."""

    def test_everything_can_be_made_due(self, catalogue: Catalogue) -> None:
        _all_visited(catalogue, A, A + "2", B)
        assert catalogue.make_due(now=at(2)) == 3
        assert catalogue.make_due(now=at(3)) == 3
        assert _due(catalogue, 3) == [A, A + "2", B]

    def test_a_page_is_made_due_even_if_it_never_would_be(self, catalogue: Catalogue) -> None:
        never = replace(fetched(A, "one"), next_at=NOW.replace(year=9999))
        record(catalogue, [never], [], worker="w", now=at(0))
        assert catalogue.next_ready() is None
        assert catalogue.make_due(now=at(2)) == 1
        assert catalogue.next_ready() == at(2)

    def test_one_source_one_host_or_one_url_can_be_made_due(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        _all_visited(catalogue, A, A + "2", B, C, D)
        assert catalogue.make_due(source_id=source.id, now=at(2)) == 1
        assert _due(catalogue, 2) == [A]
        assert catalogue.make_due(host="a.ee:8443", now=at(3)) == 1
        assert catalogue.make_due(host="https://a.ee:8443", now=at(3)) == 1
        assert catalogue.make_due(url=B, now=at(3)) == 1
        assert _due(catalogue, 3.5) == [A, B, D]
        assert catalogue.make_due(host="a.ee", now=at(4)) == 3
        assert catalogue.make_due(host="a.ee", source_id=source.id, now=at(4)) == 1
        assert catalogue.make_due(host="b.ee", url=A, now=at(4)) == 0
        assert [catalogue.make_due(host="ee", now=at(4)), catalogue.make_due(url="http://x.ee/", now=at(4))] == [0, 0]

    def test_what_is_made_due_waits_as_politeness_asks(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        lease = lease_one(catalogue)
        record(catalogue, [fetched(A, "one")], [given_back(lease, 30)], worker="one", now=at(0))
        catalogue.make_due(now=at(2))
        assert catalogue.next_ready() == at(30)
        catalogue.order(lease.host_id, HostOrders(left_alone=True), rules=HouseLeaseRules(), now=at(3))
        assert catalogue.make_due(now=at(4)) == 1
        assert catalogue.next_ready() is None

    def test_what_was_due_before_comes_first(self, catalogue: Catalogue) -> None:
        record(
            catalogue, [fetched(A + "late", "one"), fetched(A + "early", "two", next_in=5)], [], worker="w", now=at(0)
        )
        catalogue.make_due(now=at(9))
        assert [task.url for task in lease_one(catalogue, 9).tasks] == [A + "early", A + "late"]

    def test_an_update_begins_counts_and_ends(self, catalogue: Catalogue) -> None:
        update = catalogue.begin_update(UpdateKind.ORDERED, worker="one", due=7, now=at(1))
        assert (update.kind, update.state, update.due) == (UpdateKind.ORDERED, UpdateState.RUNNING, 7)
        assert (update.started_at, update.ended_at, update.workers) == (at(1), None, 0)
        assert (update.counts, update.seconds) == (NOTHING, {})
        assert _open(catalogue) == update
        catalogue.change_update(update.id, worker="one", seconds={"fetch": 1.5, "extract": 1.0}, now=at(8))
        catalogue.change_update(update.id, worker="two", seconds={"fetch": 0.25}, state=UpdateState.DONE, now=at(9))
        ended = replace(
            update, state=UpdateState.DONE, ended_at=at(9), workers=2, seconds={"extract": 1.0, "fetch": 1.75}
        )
        assert catalogue.updates(Page()) == ([ended], 1)
        assert _open(catalogue) is None
        catalogue.change_update(update.id, state=UpdateState.STOPPED, now=at(10))
        assert catalogue.updates(Page()) == ([ended], 1)
        with pytest.raises(NotFound):
            catalogue.change_update(update.id + 99, state=UpdateState.DONE, now=at(9))

    def test_visits_count_for_the_update(self, catalogue: Catalogue) -> None:
        update = catalogue.begin_update(UpdateKind.HARVEST, worker="one", due=0, now=at(0))
        gone = failed(C, 3, outcome=Outcome.GONE)
        forbidden = failed(D, 4, error=RobotsDenied("no"), outcome=Outcome.FORBIDDEN)
        remarked = replace(unchanged(A, 5), remark=WrongType("a page"))
        first = [fetched(A, "one", 1), fetched(B, "two", 1), fetched(A, "three", 2), redirected(B, "http://x.ee/", 3)]
        second = [gone, forbidden, remarked, fetched(A, "three", 6), failed(B, 7)]
        for _ in range(2):
            record(catalogue, first, [], worker="one", update_id=update.id, now=at(3))
            record(catalogue, second, [], worker="two", update_id=update.id, now=at(7))
        record(catalogue, [unchanged(A, 99)], [], worker="one", now=at(99))
        (counted,), _ = catalogue.updates(Page())
        assert (counted.workers, counted.counts) == (
            2,
            {"visited": 9, "first": 2, "changed": 1, "unchanged": 2, "redirect": 1, "gone": 1, "problems": 3},
        )

    def test_what_a_worker_left_open_is_closed_when_it_begins_again(self, catalogue: Catalogue) -> None:
        mine = catalogue.begin_update(UpdateKind.DAY, worker="one", due=0, now=at(0))
        other = catalogue.begin_update(UpdateKind.DAY, worker="two", due=0, now=at(1))
        again = catalogue.begin_update(UpdateKind.SCHEDULED, worker="one", due=0, now=at(2))
        rows, total = catalogue.updates(Page(limit=2))
        assert ([row.id for row in rows], total) == ([again.id, other.id], 3)
        ((first,), _) = catalogue.updates(Page(limit=1, offset=2))
        assert (first.id, first.state, first.ended_at) == (mine.id, UpdateState.STOPPED, at(2))
        assert _open(catalogue) == again
        catalogue.change_update(again.id, state=UpdateState.DONE, now=at(3))
        assert _open(catalogue) == other

    def test_an_update_is_for_all_that_is_due(self, catalogue: Catalogue) -> None:
        add(catalogue, A, B, C)
        record(catalogue, [fetched(A, "one", 0)], [], worker="one", now=at(1))
        update = catalogue.begin_update(UpdateKind.HARVEST, worker="one", now=at(2))
        assert update.due == catalogue.totals(now=at(2)).waiting == 2

    def test_nobody_counts_for_the_harvest_of_another(self, catalogue: Catalogue) -> None:
        catalogue.begin_update(UpdateKind.HARVEST, worker="one", due=0, now=at(0))
        assert _open(catalogue) is None

    def test_the_load_is_of_this_day_and_the_next(self, catalogue: Catalogue) -> None:
        midnight = (NOW.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1) - NOW).total_seconds()
        visits = [
            fetched(A, "one", midnight - 1, next_in=86_400.0),
            fetched(B, "two", midnight, next_in=86_400.0),
            fetched(C, "three", midnight + 1, next_in=86_402.0),
        ]
        record(catalogue, visits, [], worker="w", now=at(midnight + 2))
        add(catalogue, D, when=midnight + 2)
        load = catalogue.load(now=at(midnight + 2))
        assert (load.visited, load.planned) == (2, 3)
        assert catalogue.load(now=at(midnight - 1)).visited == 1
