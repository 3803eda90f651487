"""Tests of the frontier benchmark in small."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from threading import Barrier

import pytest

from bench.frontier import CREWS, judge, measure_leases, measure_queue
from bench.frontier_crowd import Report, Shift, gather, overlaps, percentile, sum_up
from bench.frontier_queue import fill_queue
from bench.frontier_web import fill, sizes, urls_of
from bench.result import Measure
from rehi.testing.postgres import PostgresServer, find_postgres


def test_a_few_hosts_are_large_and_most_are_small() -> None:
    counts = sizes(3_000_000, 6_000)
    assert sum(counts) == 3_000_000
    assert len(counts) == 6_000
    assert counts[0] > 200_000
    assert 0 < counts[-1] < 100


def test_the_web_is_the_same_each_time_and_names_no_url_twice() -> None:
    first = list(urls_of(2_000, 50))
    assert first == list(urls_of(2_000, 50))
    assert len(set(first)) == 2_000
    hosts = Counter(url.split("/")[2] for url in first)
    assert len(hosts) == 50
    assert max(hosts.values()) > 10 * min(hosts.values())


def test_a_host_that_two_hold_at_once_is_noticed() -> None:
    assert overlaps([(1, 0.0, 2.0), (1, 2.0, 3.0), (2, 0.0, 9.0)]) == 0
    assert overlaps([(1, 0.0, 2.0), (2, 1.0, 3.0), (1, 1.5, 3.0)]) == 1


def test_the_slowest_hundredth_lies_above_the_percentile() -> None:
    assert percentile([float(number) for number in range(100)], 0.99) == 99.0
    assert percentile([float(number) for number in reversed(range(1_000))], 0.5) == 500.0
    assert percentile([], 0.99) == 0.0


def fail(shift: Shift, ready: Barrier) -> Report:
    raise ValueError("no more ink")


def test_a_worker_that_fails_is_not_passed_over() -> None:
    with pytest.raises(RuntimeError, match="no more ink"):
        gather(fail, [Shift(uri="", worker="a", seconds=0.0)])


def numbers(
    name: str, *, p99: float = 5.0, twice: float = 0.0, amiss: float = 0.0, results: float = 100.0
) -> dict[str, Measure]:
    return {name: {"lease_p99_ms": p99, "held_twice": twice, "amiss": amiss, "results_per_s": results}}


@pytest.mark.parametrize("name", ["sqlite 1", "sqlite 8", "postgresql 8 half"])
def test_the_target_asks_for_speed_and_for_order_of_every_crew(name: str) -> None:
    peers = numbers("sqlite 1, one at a time", results=50.0) | numbers("sqlite 1, 50 at a time", results=80.0)
    good = numbers("sqlite 1")
    assert judge(good, peers).ok
    assert judge(good, peers).ratio == {"sqlite 1": 1.25}, "the better of the peer's ways counts"
    for bad in (numbers(name, p99=100.0), numbers(name, twice=1.0), numbers(name, amiss=1.0)):
        judged = judge(good | bad, peers)
        assert not judged.ok
        assert all(part.startswith(name) for part in judged.missed)


def test_workers_keep_to_a_rate(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'catalogue.db'}"
    fill(uri, urls=3_000, hosts=300)
    counts = measure_leases(uri, crew=1, seconds=1.0, rate=200.0)
    assert 50 <= counts["visits"] <= 300
    assert counts["amiss"] == 0


def test_workers_share_a_web_and_each_visit_is_there_once(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'catalogue.db'}"
    fill(uri, urls=3_000, hosts=300)
    counts = measure_leases(uri, crew=2, seconds=1.0)
    assert counts["visits"] > 0
    assert counts["leases_per_s"] > 0
    assert counts["held_twice"] == counts["amiss"] == 0


@pytest.mark.parametrize("batch", [1, 50])
def test_the_peer_visits_each_host_by_itself_too(tmp_path: Path, batch: int) -> None:
    uri = f"sqlite:///{tmp_path / 'catalogue.db'}"
    fill(uri, urls=1_000, hosts=100)
    counts = measure_queue(fill_queue(uri), crew=1, seconds=0.5, batch=batch)
    assert counts["visits"] > 0
    assert counts["amiss"] == 0


def test_the_peer_holds_no_host_twice_on_sqlite(tmp_path: Path) -> None:
    check_the_peer(f"sqlite:///{tmp_path / 'catalogue.db'}")


def test_the_peer_holds_no_host_twice_on_postgresql() -> None:
    if find_postgres() is None:
        pytest.skip("there is no PostgreSQL here")
    with PostgresServer() as server:
        check_the_peer(server.uri("queue"))


def check_the_peer(uri: str) -> None:
    fill(uri, urls=600, hosts=12)
    counts = measure_queue(fill_queue(uri), crew=2, seconds=0.5, batch=50)
    assert counts["visits"] > 0
    assert counts["amiss"] == counts["held_twice"] == 0


def test_one_worker_and_eight_are_measured() -> None:
    assert CREWS == (1, 8)
    assert sum_up([Report(seconds=2.0, visits=100), Report(seconds=2.0, visits=50)])["results_per_s"] == 75
