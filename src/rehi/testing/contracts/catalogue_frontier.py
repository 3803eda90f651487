"""What the catalogue promises of the frontier: who may visit which host, and when."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from rehi.frontier import HouseLeaseRules
from rehi.model.claims import combine_orders
from rehi.model.visit import Robots
from rehi.model.work import HostProfile
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    failed,
    fetched,
    findings,
    given_back,
    lease_one,
    record,
    unchanged,
)


class FrontierContract:
    """What the port Frontier promises, but for what visits come to."""

    def test_a_leased_host_is_nobody_elses_until_the_lease_ends(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        first = lease_one(catalogue, 0, ttl=60)
        assert first.until == at(60)
        assert catalogue.lease(worker="two", hosts=5, urls=5, ttl=60, now=at(59.9)) == []
        second = lease_one(catalogue, 60, worker="two")
        assert second.host_id == first.host_id
        assert second.token != first.token

    def test_hosts_come_in_the_order_in_which_they_were_ready(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://b.ee/", when=2)
        add(catalogue, "http://a.ee/", name="other", when=1)
        leases = catalogue.lease(worker="w", hosts=5, urls=5, ttl=60, now=at(3))
        assert [lease.origin for lease in leases] == ["http://a.ee", "http://b.ee"]

    def test_no_more_hosts_and_urls_than_asked_for(self, catalogue: Catalogue) -> None:
        add(catalogue, *(f"http://{host}.ee/{page}" for host in "abc" for page in range(5)))
        leases = catalogue.lease(worker="w", hosts=2, urls=3, ttl=60, now=at(0))
        assert [len(lease.tasks) for lease in leases] == [3, 3]
        assert len(catalogue.lease(worker="w", hosts=2, urls=3, ttl=60, now=at(0))) == 1

    def test_the_longest_due_url_comes_first(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/z", when=0)
        add(catalogue, "http://a.ee/a", name="other", when=1)
        assert [task.url for task in lease_one(catalogue, 2).tasks] == ["http://a.ee/z", "http://a.ee/a"]

    def test_a_task_knows_the_newest_version(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        visit = fetched("http://a.ee/", "one", next_in=10)
        record(catalogue, [visit], [given_back(lease_one(catalogue))], worker="one", now=at(0))
        (task,) = lease_one(catalogue, 10).tasks
        assert (task.digest, task.body, task.etag, task.last_modified) == (
            visit.digest, visit.body, visit.etag, visit.last_modified,
        )  # fmt: skip

    def test_a_task_knows_how_often_it_failed(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        record(catalogue, [failed("http://a.ee/", 0), failed("http://a.ee/", 1)], [], worker="one", now=at(1))
        assert lease_one(catalogue, 3601).tasks[0].failures == 2
        record(catalogue, [unchanged("http://a.ee/", 3602)], [], worker="one", now=at(3602))
        assert catalogue.lease(worker="w", hosts=1, urls=1, ttl=1, now=at(9999)) == []

    def test_a_task_knows_what_the_frontier_wrote_of_it(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        (task,) = lease_one(catalogue).tasks
        assert (task.history, combine_orders(task.sources).promised, task.media_type, task.failing_since) == (
            b"",
            0.0,
            "",
            None,
        )
        visit = replace(fetched("http://a.ee/", "one", next_in=60), history=b"\0\xffone")
        record(catalogue, [visit], [], worker="one", now=at(0))
        record(catalogue, [failed("http://a.ee/", 1)], [], worker="one", now=at(1))
        (task,) = lease_one(catalogue, 3601).tasks
        assert (task.history, task.media_type, task.failing_since) == (b"\0\xffone", "text/html", at(1))

    def test_a_task_without_a_source_has_no_policy_of_its_own(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched("http://a.ee/", "one", next_in=1)], [], worker="one", now=at(0))
        (task,) = lease_one(catalogue, 1).tasks
        assert (task.source_id, combine_orders(task.sources).policies, combine_orders(task.sources).weight) == (
            0,
            (),
            1.0,
        )

    def test_a_task_knows_since_when_it_fails(self, catalogue: Catalogue) -> None:
        url = "http://a.ee/"
        batch = [failed(url, 1), failed(url, 2), unchanged(url, 3), failed(url, 4), failed(url, 5)]
        record(catalogue, batch, [], worker="one", now=at(5))
        (task,) = lease_one(catalogue, 3605).tasks
        assert (task.failures, task.failing_since) == (2, at(4))

    def test_a_released_host_waits_as_politeness_asks(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/", "http://a.ee/b")
        lease = lease_one(catalogue)
        record(catalogue, [unchanged("http://a.ee/", 0)], [given_back(lease, 30, delay=2.5)], worker="one", now=at(0))
        assert catalogue.next_ready() == at(30)
        assert catalogue.lease(worker="w", hosts=1, urls=1, ttl=1, now=at(29)) == []
        again = lease_one(catalogue, 30)
        assert [task.url for task in again.tasks] == ["http://a.ee/b"]
        assert again.delay == 2.5

    def test_new_urls_do_not_make_a_host_ready_before_politeness_allows(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        record(
            catalogue, [unchanged("http://a.ee/", 0)], [given_back(lease_one(catalogue), 30)], worker="one", now=at(0)
        )
        add(catalogue, "http://a.ee/new", name="other", when=1)
        assert catalogue.next_ready() == at(30)
        assert [task.url for task in lease_one(catalogue, 30).tasks] == ["http://a.ee/new"]

    def test_a_released_host_is_ready_when_its_next_url_is_due(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        visit = fetched("http://a.ee/", "one", next_in=500)
        record(catalogue, [visit], [given_back(lease_one(catalogue), 1)], worker="one", now=at(0))
        assert catalogue.next_ready() == at(500)

    def test_a_host_on_which_nothing_is_ever_due_is_never_ready(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        lease = lease_one(catalogue)
        never = replace(unchanged("http://a.ee/", 0), next_at=datetime.max.replace(tzinfo=UTC))
        record(catalogue, [never], [given_back(lease, 1)], worker="one", now=at(0))
        assert catalogue.next_ready() is None
        assert catalogue.lease(worker="w", hosts=1, urls=1, ttl=1, now=at(10**9)) == []

    def test_a_ready_host_without_due_urls_is_not_leased_but_moved(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/", "http://b.ee/")
        record(catalogue, [fetched("http://a.ee/", "one", next_in=500)], [], worker="one", now=at(0))
        assert lease_one(catalogue, 1).origin == "http://b.ee"
        catalogue.forget_leases(worker="one", rules=HouseLeaseRules(), now=at(1))
        record(catalogue, [fetched("http://b.ee/", "two", next_in=900)], [], worker="one", now=at(0))
        assert catalogue.lease(worker="w", hosts=5, urls=5, ttl=5, now=at(2)) == []
        assert catalogue.next_ready() == at(500)

    def test_only_the_holder_can_give_a_lease_back_or_renew_it(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        late = lease_one(catalogue, 0, ttl=10)
        held = lease_one(catalogue, 10, worker="two", ttl=100)
        record(catalogue, [], [given_back(late, 10)], worker="one", now=at(11))
        assert catalogue.renew([late], ttl=1000, now=at(11)) == [late.host_id]
        assert catalogue.renew([held], ttl=99, now=at(11)) == []
        assert catalogue.lease(worker="x", hosts=1, urls=1, ttl=1, now=at(109)) == []
        assert lease_one(catalogue, 110, worker="x").token != held.token

    def test_a_renewed_lease_lasts_longer(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        lease = lease_one(catalogue, 0, ttl=10)
        assert catalogue.renew([lease], ttl=10, now=at(9)) == []
        assert catalogue.lease(worker="two", hosts=1, urls=1, ttl=1, now=at(18)) == []
        assert catalogue.next_ready() == at(19)
        lease_one(catalogue, 19, worker="two")

    def test_a_worker_that_starts_again_forgets_only_its_own_leases(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/", "http://b.ee/")
        mine = catalogue.lease(worker="w", hosts=1, urls=1, ttl=60, now=at(0))
        catalogue.lease(worker="w2", hosts=1, urls=1, ttl=60, now=at(0))
        catalogue.forget_leases(worker="w", rules=HouseLeaseRules(), now=at(1))
        free = catalogue.lease(worker="x", hosts=5, urls=1, ttl=60, now=at(1))
        assert [lease.host_id for lease in free] == [lease.host_id for lease in mine]

    def test_what_a_worker_forgets_rests_first_since_it_may_just_have_been_visited(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        record(catalogue, [], [given_back(lease_one(catalogue), 1, delay=7.0)], worker="one", now=at(0))
        add(catalogue, "http://b.ee/", name="other")
        catalogue.lease(worker="w", hosts=2, urls=1, ttl=60, now=at(2))
        catalogue.forget_leases(worker="w", rules=HouseLeaseRules(least_rest=3.0), now=at(10))
        assert catalogue.lease(worker="x", hosts=2, urls=1, ttl=60, now=at(12.9)) == []
        assert [lease.origin for lease in catalogue.lease(worker="x", hosts=2, urls=1, ttl=60, now=at(13))] == [
            "http://b.ee"
        ]
        assert catalogue.lease(worker="x", hosts=2, urls=1, ttl=60, now=at(16.9)) == []
        assert len(catalogue.lease(worker="x", hosts=2, urls=1, ttl=60, now=at(17))) == 1

    def test_next_ready_is_when_a_lease_can_be_had(self, catalogue: Catalogue) -> None:
        assert catalogue.next_ready() is None
        add(catalogue, "http://a.ee/", "http://b.ee/", when=3)
        assert catalogue.next_ready() == at(3)
        catalogue.lease(worker="w", hosts=1, urls=1, ttl=60, now=at(3))
        assert catalogue.next_ready() == at(3)
        catalogue.lease(worker="w", hosts=1, urls=1, ttl=90, now=at(3))
        assert catalogue.next_ready() == at(63)

    def test_a_hosts_robots_file_comes_with_its_lease(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        lease = lease_one(catalogue)
        assert lease.robots is None
        record(
            catalogue,
            [],
            [],
            profiles=[
                HostProfile(host_id=lease.host_id, robots=Robots(status=200, text="User-agent: *", fetched_at=at(0)))
            ],
            worker="one",
            now=at(0),
        )
        kept = Robots(status=200, text="User-agent: rehi\0", fetched_at=at(1))
        record(catalogue, [], [], profiles=[HostProfile(host_id=lease.host_id, robots=kept)], worker="one", now=at(0))
        robots = lease_one(catalogue, 60).robots
        assert robots == Robots(status=200, text="User-agent: rehi", fetched_at=at(1))

    def test_urls_taken_in_while_their_host_is_leased_come_with_the_next_lease(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        lease = lease_one(catalogue)
        source = catalogue.add_source(kind="url-list", name="b", location="/b", size=1, now=at(1))
        catalogue.take_in(source, findings("http://a.ee/b"), cursor=b"1", counts={}, now=at(1))
        record(catalogue, [fetched("http://a.ee/", "one")], [given_back(lease, 5)], worker="one", now=at(4))
        assert [task.url for task in lease_one(catalogue, 5).tasks] == ["http://a.ee/b"]
