"""What the catalogue promises of pace groups: hosts that share one pace are visited one at a time."""

from __future__ import annotations

from dataclasses import replace

from rehi.frontier import HouseLeaseRules
from rehi.model.host import HostOrders
from rehi.model.visit import HostLease
from rehi.model.work import HostRelease
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import add, at, fetched, given_back, lease_one, record

A, B, C = "http://a.ee/", "http://b.ee/", "http://c.ee/"


def _leases(catalogue: Catalogue, when: float, *, worker: str = "w", ttl: float = 60) -> dict[str, HostLease]:
    leases = catalogue.lease(worker=worker, hosts=9, urls=9, ttl=ttl, now=at(when))
    return {lease.origin: lease for lease in leases}


def _back(lease: HostLease, ready: float = 0, group: str = "g") -> HostRelease:
    return replace(given_back(lease, ready), pace_group=group)


def _give(catalogue: Catalogue, *released: HostRelease, when: float = 0) -> None:
    record(catalogue, [], released, worker="w", now=at(when))


def _grouped(catalogue: Catalogue, *urls: str) -> None:
    """Return hosts of one group, all of which have something due."""
    add(catalogue, *urls)
    _give(catalogue, *map(_back, _leases(catalogue, 0).values()))


class PacesContract:
    """What the port Frontier promises of pace groups."""

    def test_hosts_of_one_group_are_leased_one_at_a_time(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        add(catalogue, C, name="other", when=1)
        first = _leases(catalogue, 1)
        assert list(first) == ["http://a.ee", "http://c.ee"]
        assert _leases(catalogue, 2, worker="two") == {}
        _give(catalogue, _back(first["http://a.ee"], 5), when=3)
        assert _leases(catalogue, 4.9, worker="two") == {}
        assert catalogue.next_ready() == at(5)
        assert len(_leases(catalogue, 5, worker="two")) == 1
        assert _leases(catalogue, 5, worker="three") == {}

    def test_groups_do_not_wait_for_each_other(self, catalogue: Catalogue) -> None:
        add(catalogue, A, B)
        held = _leases(catalogue, 0)
        _give(catalogue, _back(held["http://a.ee"], group="one"), _back(held["http://b.ee"], group="two"))
        assert len(_leases(catalogue, 1)) == 2

    def test_the_lease_of_a_group_ends_with_that_of_its_host(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        lease_one(catalogue, 1, ttl=10)
        assert catalogue.next_ready() == at(11)
        assert len(_leases(catalogue, 11, worker="two")) == 1

    def test_a_renewed_lease_keeps_its_group(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        held = lease_one(catalogue, 1, ttl=10)
        assert catalogue.renew([held], ttl=10, now=at(10)) == []
        assert _leases(catalogue, 19, worker="two") == {}
        assert catalogue.next_ready() == at(20)

    def test_a_lease_whose_group_another_has_taken_is_lost(self, catalogue: Catalogue) -> None:
        add(catalogue, A, B)
        held = _leases(catalogue, 0)
        back = [_back(held["http://a.ee"], 1), _back(held["http://b.ee"], 0)]
        record(catalogue, [fetched(B, "one", next_in=1000)], back, worker="w", now=at(0))
        late = lease_one(catalogue, 2, ttl=10)
        assert late.origin == "http://a.ee"
        add(catalogue, B + "new", name="other", when=0.5)
        other = lease_one(catalogue, 12, worker="two")
        assert other.origin == "http://b.ee"
        assert catalogue.renew([late, other], ttl=60, now=at(13)) == [late.host_id]
        _give(catalogue, _back(late, 14), when=14)
        assert _leases(catalogue, 15, worker="three") == {}
        _give(catalogue, _back(other, 16), when=16)
        assert len(_leases(catalogue, 16, worker="three")) == 1

    def test_a_worker_that_starts_again_frees_its_groups(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        lease_one(catalogue, 1, worker="one")
        catalogue.forget_leases(worker="other", rules=HouseLeaseRules(), now=at(1))
        assert _leases(catalogue, 2) == {}
        catalogue.forget_leases(worker="one", rules=HouseLeaseRules(), now=at(1))
        assert len(_leases(catalogue, 2)) == 1

    def test_a_host_leaves_its_group_when_it_is_given_back_without(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        held = lease_one(catalogue, 1)
        _give(catalogue, _back(held, 2, group=""), when=2)
        assert len(_leases(catalogue, 2)) == 2

    def test_a_host_may_move_to_another_group(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        held = lease_one(catalogue, 1)
        _give(catalogue, _back(held, 2, group="h"), when=2)
        assert len(_leases(catalogue, 2)) == 2

    def test_a_lease_that_was_lost_does_not_free_the_group(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        late = lease_one(catalogue, 1, ttl=10)
        assert len(_leases(catalogue, 11, worker="two")) == 1
        _give(catalogue, _back(late, 12), when=12)
        assert _leases(catalogue, 13, worker="three") == {}

    def test_a_host_that_failed_holds_its_group_up_only_for_the_pause(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        held = lease_one(catalogue, 1)
        _give(catalogue, replace(_back(held, 9_999), failures=1, delay=2.0), when=3)
        assert _leases(catalogue, 4.9) == {}
        assert [lease.origin for lease in _leases(catalogue, 5).values()] == ["http://b.ee"]

    def test_a_host_that_is_to_be_left_alone_frees_its_group_after_the_pause(self, catalogue: Catalogue) -> None:
        _grouped(catalogue, A, B)
        held = lease_one(catalogue, 1)
        catalogue.order(held.host_id, HostOrders(left_alone=True), rules=HouseLeaseRules(), now=at(2))
        assert _leases(catalogue, 2.9) == {}
        assert [lease.origin for lease in _leases(catalogue, 3).values()] == ["http://b.ee"]
