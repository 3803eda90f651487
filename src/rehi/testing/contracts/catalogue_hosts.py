"""What the catalogue promises of hosts: how they fare, and that orders hold at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from rehi.errors import NotFound
from rehi.frontier import HouseLeaseRules
from rehi.model.host import NO_ORDERS, HostOrders, HostRow, HostState, Probe
from rehi.model.listing import Page
from rehi.model.visit import HostLease, Robots
from rehi.model.work import HostProfile
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
    unchanged,
)

A, B = "http://a.ee/", "http://b.ee/"
LEAVE = HostOrders(left_alone=True, why="its owner asked\0")


def _row(catalogue: Catalogue, when: float, name: str = "a.ee") -> HostRow:
    (facts,) = catalogue.host(name, now=at(when))
    return facts.row


def _lease(catalogue: Catalogue, when: float) -> list[HostLease]:
    return list(catalogue.lease(worker="w", hosts=9, urls=9, ttl=60, now=at(when)))


class HostsContract:
    """What the ports Index and Frontier promise of hosts."""

    def test_a_lease_knows_what_was_learned_of_the_host(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        lease = lease_one(catalogue)
        assert (lease.failures, lease.strain, lease.address, lease.history) == (0, 1.0, "", b"")
        assert (lease.probe, lease.orders) == (None, NO_ORDERS)
        learned = replace(
            given_back(lease, 1, failed=True), strain=2.5, address="192.0.2.7", history=b"\0\xff", why="it is slow"
        )
        record(catalogue, [], [learned], worker="one", now=at(1))
        again = lease_one(catalogue, 1)
        assert (again.failures, again.strain, again.address, again.history) == (1, 2.5, "192.0.2.7", b"\0\xff")
        record(catalogue, [], [given_back(again, 2)], worker="one", now=at(2))
        last = lease_one(catalogue, 2)
        assert (last.failures, last.strain, last.address, last.history) == (0, 1.0, "192.0.2.7", b"\0\xff")

    def test_robots_and_probe_are_remembered_each_by_itself(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        host_id = lease_one(catalogue).host_id
        probe = Probe(status=200, fingerprint=b"\1\2", at=at(1))
        robots = Robots(status=200, text="User-agent: *", fetched_at=at(0))
        record(
            catalogue,
            [],
            [],
            profiles=[HostProfile(host_id=host_id, probe=Probe(status=404, fingerprint=b"", at=at(0)))],
            worker="one",
            now=at(0),
        )
        record(catalogue, [], [], profiles=[HostProfile(host_id=host_id, robots=robots)], worker="one", now=at(0))
        record(catalogue, [], [], profiles=[HostProfile(host_id=host_id, probe=probe)], worker="one", now=at(0))
        record(catalogue, [], [], profiles=[HostProfile(host_id=host_id)], worker="one", now=at(0))
        lease = lease_one(catalogue, 60)
        assert (lease.robots, lease.probe) == (robots, probe)

    def test_since_when_a_robots_txt_can_not_be_had_is_remembered(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        host_id = lease_one(catalogue).host_id
        lost = Robots(status=503, text="User-agent: *", fetched_at=at(9), failing_since=at(3))
        record(catalogue, [], [], profiles=[HostProfile(host_id=host_id, robots=lost)], worker="one", now=at(9))
        assert lease_one(catalogue, 60).robots == lost
        (facts,) = catalogue.host("a.ee", now=at(60))
        assert (facts.robots_status, facts.robots_failing_since) == (503, at(3))
        robots = Robots(status=200, text="", fetched_at=at(70))
        record(catalogue, [], [], profiles=[HostProfile(host_id=host_id, robots=robots)], worker="one", now=at(70))
        assert lease_one(catalogue, 121).robots == robots
        (facts,) = catalogue.host("a.ee", now=at(122))
        assert facts.robots_failing_since is None

    def test_a_host_that_is_left_alone_is_never_leased(self, catalogue: Catalogue) -> None:
        add(catalogue, A, B)
        (row,), _ = catalogue.hosts("a.ee", Page())
        catalogue.order(row.host_id, LEAVE, rules=HouseLeaseRules(), now=at(1))
        add(catalogue, A + "new", name="other", when=2)
        record(catalogue, [fetched(A + "more", "one", 3, next_in=1)], [], worker="one", now=at(3))
        catalogue.make_due(now=at(4))
        assert [lease.origin for lease in _lease(catalogue, 10**9)] == ["http://b.ee"]

    def test_a_host_that_is_not_left_alone_any_more_is_ready_when_something_is_due(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        lease = lease_one(catalogue)
        record(catalogue, [], [given_back(lease, 30)], worker="one", now=at(0))
        catalogue.order(lease.host_id, LEAVE, rules=HouseLeaseRules(), now=at(1))
        assert catalogue.next_ready() is None
        catalogue.order(lease.host_id, HostOrders(delay=5.0), rules=HouseLeaseRules(), now=at(2))
        assert catalogue.next_ready() == at(30)
        assert lease_one(catalogue, 30).orders == HostOrders(delay=5.0, changed_at=at(2))

    def test_an_order_to_leave_a_host_alone_ends_its_lease(self, catalogue: Catalogue) -> None:
        add(catalogue, A, B)
        leases = _lease(catalogue, 0)
        held = {lease.origin: lease for lease in leases}
        alone = held["http://a.ee"]
        assert catalogue.renew(leases, ttl=60, now=at(1)) == []
        catalogue.order(alone.host_id, LEAVE, rules=HouseLeaseRules(), now=at(2))
        assert catalogue.renew(leases, ttl=60, now=at(3)) == [alone.host_id]
        late = replace(given_back(alone, 3), strain=9.0)
        record(catalogue, [unchanged(A, 3)], [late], worker="w", now=at(3))
        row = _row(catalogue, 3)
        assert (row.state, row.strain, row.ready_at) == (HostState.LEFT_ALONE, 1.0, None)

    def test_the_pause_after_a_request_holds_even_if_orders_change_quickly(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        record(catalogue, [], [given_back(lease_one(catalogue), 0, delay=5.0)], worker="one", now=at(0))
        lease = lease_one(catalogue, 1)
        catalogue.order(lease.host_id, LEAVE, rules=HouseLeaseRules(), now=at(2))
        catalogue.order(lease.host_id, HostOrders(), rules=HouseLeaseRules(), now=at(3))
        assert catalogue.next_ready() == at(7)

    def test_other_orders_leave_the_lease_as_it_is(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        lease = lease_one(catalogue)
        given = HostOrders(delay=2.5, connections=3, hours="20:00-06:00", why="by mail")
        catalogue.order(lease.host_id, given, rules=HouseLeaseRules(), now=at(1))
        assert catalogue.renew([lease], ttl=60, now=at(2)) == []
        record(catalogue, [], [given_back(lease, 3)], worker="one", now=at(3))
        assert lease_one(catalogue, 3).orders == replace(given, changed_at=at(1))

    def test_orders_can_be_heard_of_by_those_who_missed_them(self, catalogue: Catalogue) -> None:
        add(catalogue, A, B)
        one, two = (row.host_id for row in catalogue.hosts("", Page())[0])
        assert catalogue.orders(since=at(0)) == {}
        catalogue.order(one, LEAVE, rules=HouseLeaseRules(), now=at(1))
        catalogue.order(two, HostOrders(delay=1.5), rules=HouseLeaseRules(), now=at(2))
        kept = HostOrders(left_alone=True, why="its owner asked", changed_at=at(1))
        assert catalogue.orders(since=at(0)) == {one: kept, two: HostOrders(delay=1.5, changed_at=at(2))}
        assert list(catalogue.orders(since=at(1))) == [two]
        catalogue.order(one, NO_ORDERS, rules=HouseLeaseRules(), now=at(3))
        assert catalogue.orders(since=at(2)) == {one: HostOrders(changed_at=at(3))}

    def test_there_are_no_orders_for_an_unknown_host(self, catalogue: Catalogue) -> None:
        with pytest.raises(NotFound):
            catalogue.order(99, LEAVE, rules=HouseLeaseRules(), now=at(0))
        with pytest.raises(NotFound):
            catalogue.host("nowhere.ee", now=at(0))

    def test_a_hosts_state_says_what_it_does(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        assert _row(catalogue, 0).state is HostState.READY
        lease = lease_one(catalogue, 0, worker="me", ttl=10)
        (facts,) = catalogue.host("a.ee", now=at(1))
        assert (facts.row.state, facts.worker) == (HostState.VISITED, "me")
        assert _row(catalogue, 10).state is HostState.READY
        record(catalogue, [], [replace(given_back(lease, 30), why="it asked for that")], worker="me", now=at(1))
        row = _row(catalogue, 2)
        assert (row.state, row.why, row.ready_at) == (HostState.WAITING, "it asked for that", at(30))
        lease = lease_one(catalogue, 30)
        record(catalogue, [fetched(A, "one", 30, next_in=500)], [given_back(lease, 40)], worker="me", now=at(30))
        row = _row(catalogue, 35)
        assert (row.state, row.why, row.ready_at) == (HostState.IDLE, "", at(530))

    def test_a_host_waits_for_the_others_of_its_pace_group(self, catalogue: Catalogue) -> None:
        add(catalogue, A, B)
        back = [replace(given_back(lease), pace_group="192.0.2.7") for lease in _lease(catalogue, 0)]
        record(catalogue, [], back, worker="w", now=at(0))
        lease_one(catalogue, 1, ttl=9)
        row = _row(catalogue, 2, "b.ee")
        assert (row.state, row.ready_at, "192.0.2.7" in row.why) == (HostState.WAITING, at(10), True)

    def test_all_that_is_known_of_a_host(self, catalogue: Catalogue) -> None:
        add(catalogue, A, A + "2", A + "3", B)
        robots = Robots(status=200, text="User-agent: *", fetched_at=at(0))
        held = {lease.origin: lease for lease in _lease(catalogue, 0)}
        record(
            catalogue,
            [],
            [],
            profiles=[HostProfile(host_id=held["http://a.ee"].host_id, robots=robots)],
            worker="one",
            now=at(0),
        )
        back = [replace(given_back(lease, 1, delay=2.0), address="192.0.2.7") for lease in held.values()]
        visits = [fetched(A, "one", 1), failed(A + "2", 2), unchanged(A, 3)]
        record(catalogue, visits, back, worker="w", now=at(3))
        (facts,) = catalogue.host("http://A.ee/", now=at(3))
        assert (facts.row.resources, facts.row.delay, facts.due) == (3, 2.0, 1)
        assert (facts.robots_status, facts.robots_text, facts.robots_at) == (200, "User-agent: *", at(0))
        assert (facts.neighbours, facts.orders, facts.worker) == (("http://b.ee",), NO_ORDERS, "")
        seen = [(visit.url, visit.at, visit.outcome, visit.status) for visit in facts.visits]
        assert seen == [
            (A, at(3), "unchanged", 304), (A + "2", at(2), "failed", 503), (A, at(1), "new", 200),
        ]  # fmt: skip
        assert (facts.visits[2].size, facts.visits[2].seconds) == (3, 0.5)

    def test_the_newest_visits_are_shown_and_not_too_many(self, catalogue: Catalogue) -> None:
        for when in range(0, 60, 3):
            batch = [
                fetched(f"{A}{when % 4}", f"{when}", when),
                unchanged(A + "x", when + 1),
                failed(A + "y", when + 2),
            ]
            record(catalogue, batch, [], worker="w", now=at(when))
        (facts,) = catalogue.host("a.ee", now=at(99))
        assert [visit.at for visit in facts.visits] == [at(when) for when in range(59, 39, -1)]

    def test_a_host_is_found_on_all_ports_unless_one_is_given(self, catalogue: Catalogue) -> None:
        add(catalogue, A, "https://a.ee/", "https://a.ee:8443/", "http://aa.ee/", "http://www.a.ee/", "http://a.eex/")
        hosts = {
            name: [facts.row.origin for facts in catalogue.host(name, now=at(0))]
            for name in ("a.ee", "A.EE", "a.ee:8443", "https://a.ee", "https://a.ee/")
        }
        every = ["http://a.ee", "https://a.ee", "https://a.ee:8443"]
        assert hosts == {
            "a.ee": every, "A.EE": every, "a.ee:8443": every[2:], "https://a.ee": every[1:2], "https://a.ee/": every[1:2],
        }  # fmt: skip
        for pattern in ("a%", "_.ee", ""):
            with pytest.raises(NotFound):
                catalogue.host(pattern, now=at(0))

    def test_the_list_of_hosts_begins_with_those_in_trouble(self, catalogue: Catalogue) -> None:
        add(catalogue, *(f"http://{name}.ee/{page}" for name in "dabc" for page in range(3)))
        held = {lease.origin[7]: lease for lease in _lease(catalogue, 0)}
        back = [
            given_back(held["d"], 0, failed=True), replace(given_back(held["c"]), strain=2.0), given_back(held["a"]),
        ]  # fmt: skip
        record(catalogue, [], back, worker="w", now=at(0))
        rows, total = catalogue.hosts("", Page())
        assert ([row.origin[7] for row in rows], total) == (["c", "d", "a", "b"], 4)
        assert [row.resources for row in rows] == [3, 3, 3, 3]
        rows, total = catalogue.hosts("", Page(limit=2, offset=1))
        assert ([row.origin[7] for row in rows], total) == (["d", "a"], 4)
        assert [row.origin for row in catalogue.hosts("B.e", Page())[0]] == ["http://b.ee"]
        assert catalogue.hosts("%", Page()) == ([], 0)

    def test_the_list_of_hosts_says_what_they_do_now(self, catalogue: Catalogue) -> None:
        add(catalogue, A, B, "http://c.ee/", "http://d.ee/")
        ahead = (catalogue.clock() - NOW + timedelta(days=1)).total_seconds()
        held = {lease.origin[7]: lease for lease in _lease(catalogue, 0)}
        catalogue.renew([held["a"]], ttl=60, now=at(ahead))
        record(catalogue, [], [replace(given_back(held["b"], ahead), why="rest")], worker="w", now=at(0))
        catalogue.order(held["c"].host_id, LEAVE, rules=HouseLeaseRules(), now=at(0))
        rows, _ = catalogue.hosts("", Page())
        assert [(row.state, row.why) for row in rows] == [
            (HostState.VISITED, ""), (HostState.WAITING, "rest"), (HostState.LEFT_ALONE, ""), (HostState.READY, ""),
        ]  # fmt: skip

    def test_the_clock_is_in_utc_and_goes_on(self, catalogue: Catalogue) -> None:
        first = catalogue.clock()
        assert first.utcoffset() == timedelta(0)
        assert first <= catalogue.clock()
