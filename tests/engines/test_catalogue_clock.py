"""The clock goes back, on both databases: nobody rests, and nothing is held, until the old time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from rehi.engines.sql import open_catalogue
from rehi.frontier import HouseLeaseRules
from rehi.model.worker import Worker
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import add, at, failed, record

HOUR = timedelta(hours=1)
RULES = HouseLeaseRules(longest_rest=86_400.0, longest_lease=600.0)


@pytest.fixture
def catalogue(catalogue_uri: str) -> Iterator[Catalogue]:
    catalogue = open_catalogue(catalogue_uri)
    yield catalogue
    catalogue.close()


def settle(catalogue: Catalogue, seconds: int) -> timedelta:
    return catalogue.settle_clock(worker="one", rules=RULES, now=at(seconds))


def test_hosts_and_leases_do_not_wait_for_the_old_time(catalogue: Catalogue) -> None:
    add(catalogue, "http://a.ee/", "http://b.ee/")
    later = at(0) + HOUR
    catalogue.sign(Worker(name="one", started_at=later, seen_at=later))
    assert catalogue.lease(
        worker="one", hosts=1, urls=9, ttl=600, now=later
    )  # held until the old time, and ten minutes
    catalogue.forget_leases(
        worker="one", rules=HouseLeaseRules(least_rest=5.0), now=later
    )  # rests until the old time, and five seconds
    assert catalogue.lease(worker="two", hosts=1, urls=9, ttl=600, now=later)
    assert not catalogue.lease(worker="three", hosts=9, urls=9, ttl=600, now=at(10))
    assert settle(catalogue, 10) == HOUR - timedelta(seconds=10)
    assert len(catalogue.lease(worker="three", hosts=9, urls=9, ttl=600, now=at(30))) == 2
    assert settle(catalogue, 31) == timedelta()  # it is noticed once


def test_a_worker_that_was_killed_before_it_signed_by_a_wrong_clock_leaves_no_rests(catalogue: Catalogue) -> None:
    add(catalogue, "http://a.ee/")
    catalogue.sign(Worker(name="one", started_at=at(0), seen_at=at(10)))
    assert catalogue.lease(worker="one", hosts=1, urls=9, ttl=600, now=at(10))
    assert settle(catalogue, 3610) == timedelta()  # it begins an hour ahead,
    catalogue.forget_leases(
        worker="one", rules=HouseLeaseRules(least_rest=5.0), now=at(3610)
    )  # gives back what it held, and is killed
    assert settle(catalogue, 30) == timedelta(seconds=3580)
    assert catalogue.lease(worker="one", hosts=1, urls=9, ttl=600, now=at(60))


def test_a_clock_that_goes_as_it_should_changes_nothing(catalogue: Catalogue) -> None:
    add(catalogue, "http://a.ee/")
    catalogue.sign(Worker(name="one", started_at=at(0), seen_at=at(10)))
    assert catalogue.lease(worker="one", hosts=1, urls=9, ttl=600, now=at(10))
    assert settle(catalogue, 11) == timedelta()
    assert not catalogue.lease(worker="two", hosts=1, urls=9, ttl=600, now=at(11))


def test_no_time_counts_against_what_fails_that_nobody_has_lived_through(catalogue: Catalogue) -> None:
    add(catalogue, "http://a.ee/")
    record(catalogue, [failed("http://a.ee/", 0)], now=at(0))
    catalogue.forgive(by=HOUR)
    (lease,) = catalogue.lease(worker="one", hosts=1, urls=9, ttl=600, now=at(0) + 2 * HOUR)
    assert [task.failing_since for task in lease.tasks] == [at(0) + HOUR]
