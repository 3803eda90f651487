"""What the catalogue promises of workers: who they are, what they hold, and who owns the graph."""

from __future__ import annotations

from dataclasses import replace

from rehi.model.version import RecordRef
from rehi.model.worker import Worker
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import add, at, fetched, record


class WorkersContract:
    """What the port Workers promises."""

    def test_a_worker_is_known_by_its_last_sign_of_life(self, catalogue: Catalogue) -> None:
        one = Worker(name="one", machine="barn", process=7, version="1", started_at=at(0), seen_at=at(0))
        catalogue.sign(one)
        catalogue.sign(replace(one, seen_at=at(10)))
        catalogue.sign(replace(one, name="two", seen_at=at(5), ended_at=at(6)))
        first, second = catalogue.workers(now=at(11))
        assert first == replace(one, seen_at=at(10))
        assert (second.name, second.ended_at) == ("two", at(6))

    def test_what_a_worker_holds_is_told_until_it_holds_it_no_longer(self, catalogue: Catalogue) -> None:
        catalogue.sign(Worker(name="one", started_at=at(0), seen_at=at(0)))
        add(catalogue, "http://a.ee/", "http://b.ee/")
        catalogue.lease(worker="one", hosts=9, urls=9, ttl=60, now=at(0))
        record(
            catalogue, [fetched("http://c.ee/", "c", ref=RecordRef("one.warc.gz", 0, 9))], [], worker="one", now=at(0)
        )
        catalogue.claim(("resource",), worker="one", limit=9, ttl=60, now=at(0))
        (held,) = catalogue.workers(now=at(1))
        assert (held.hosts, held.claims, held.waiting) == (2, {"resource": 1}, 1)
        (later,) = catalogue.workers(now=at(100))
        assert (later.hosts, later.claims, later.waiting) == (0, {}, 1)

    def test_what_is_claimed_does_not_wait(self, catalogue: Catalogue) -> None:
        catalogue.sign(Worker(name="one", started_at=at(0), seen_at=at(0)))
        record(
            catalogue, [fetched("http://c.ee/", "c", ref=RecordRef("one.warc.gz", 0, 9))], [], worker="one", now=at(0)
        )
        source = catalogue.add_source(kind="", name="a.log", location="/a.log", size=9, worker="one", now=at(0))
        catalogue.start_source(source.id, worker="one", now=at(0))
        (idle,) = catalogue.workers(now=at(1))
        assert (idle.claims, idle.waiting, idle.waiting_sources) == ({}, 1, 1)
        catalogue.claim(("read", "discover"), worker="one", limit=9, ttl=60, now=at(1))
        (busy,) = catalogue.workers(now=at(2))
        assert (busy.claims, busy.waiting, busy.waiting_sources) == ({"discover": 1, "read": 1}, 0, 0)

    def test_one_worker_owns_the_graph_until_another_takes_it(self, catalogue: Catalogue) -> None:
        for name in ("one", "two"):
            catalogue.sign(Worker(name=name, started_at=at(0), seen_at=at(0)))
        assert catalogue.own_graph("one", uri="oxigraph:///one", now=at(0)) == "one"
        assert catalogue.own_graph("two", uri="oxigraph:///two", now=at(1)) == "one"
        assert catalogue.own_graph("two", uri="oxigraph:///two", now=at(2), take=True) == "two"
        assert catalogue.own_graph("one", uri="oxigraph:///one", now=at(3)) == "two"
        assert {known.name: known.owns_graph for known in catalogue.workers(now=at(4))} == {"one": False, "two": True}
