"""The agenda keeps a host's pace, whatever else is going on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rehi.frontier import Agenda
from rehi.model.visit import HostLease, VisitTask

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


def lease(host_id: int, tasks: int, *, delay: float = 0.0) -> HostLease:
    return HostLease(
        host_id=host_id,
        origin=f"http://h{host_id}.test",
        token=f"t{host_id}",
        until=NOW + timedelta(minutes=10),
        delay=delay,
        robots=None,
        tasks=tuple(
            VisitTask(resource_id=host_id * 100 + n, source_id=1, url=f"http://h{host_id}.test/{n}")
            for n in range(tasks)
        ),
    )


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_robots_comes_before_the_first_page() -> None:
    agenda = Agenda(delay=1.0)
    agenda.add(lease(1, 1), needs_robots=True, now=NOW)
    (first,) = agenda.ready(NOW, limit=10)
    assert first.task is None
    agenda.done(first, now=NOW)
    assert agenda.ready(at(0.9), limit=10) == []
    (second,) = agenda.ready(at(1.0), limit=10)
    assert second.task is not None


def test_a_busy_host_is_not_asked_a_second_time() -> None:
    agenda = Agenda(delay=0.0)
    agenda.add(lease(1, 3), needs_robots=False, now=NOW)
    (errand,) = agenda.ready(NOW, limit=10)
    assert agenda.ready(at(100), limit=10) == []
    agenda.done(errand, now=at(100))
    assert len(agenda.ready(at(100), limit=10)) == 1


def test_a_host_is_given_back_when_its_tasks_are_done_and_rests_for_its_delay() -> None:
    agenda = Agenda(delay=2.0)
    agenda.add(lease(1, 1), needs_robots=False, now=NOW)
    (errand,) = agenda.ready(NOW, limit=10)
    agenda.done(errand, now=at(5))
    (release,) = agenda.take_releases()
    assert (release.host_id, release.token, release.ready_at, release.failed) == (1, "t1", at(7), False)
    assert len(agenda) == 0
    assert agenda.take_releases() == []


def test_a_page_that_was_not_asked_for_costs_no_pause() -> None:
    agenda = Agenda(delay=2.0)
    agenda.add(lease(1, 2), needs_robots=False, now=NOW)
    (errand,) = agenda.ready(NOW, limit=10)
    agenda.done(errand, now=NOW, asked=False)
    assert len(agenda.ready(NOW, limit=10)) == 1


def test_a_host_in_trouble_is_put_off_with_all_its_tasks() -> None:
    agenda = Agenda(delay=0.0)
    agenda.add(lease(1, 5), needs_robots=False, now=NOW)
    (errand,) = agenda.ready(NOW, limit=10)
    agenda.put_off(errand.lease, until=at(3600))
    (release,) = agenda.take_releases()
    assert release.failed
    assert release.ready_at == at(3600)
    agenda.done(errand, now=at(1))
    assert agenda.ready(at(10_000), limit=10) == []


def test_a_longer_crawl_delay_is_obeyed_and_a_shorter_one_is_not() -> None:
    agenda = Agenda(delay=1.0)
    for host, asked in ((1, 5.0), (2, 0.1)):
        held = lease(host, 2)
        agenda.add(held, needs_robots=False, now=NOW)
        agenda.slow_down(held, asked)
    for errand in agenda.ready(NOW, limit=10):
        agenda.done(errand, now=NOW)
    assert [errand.lease.host_id for errand in agenda.ready(at(1), limit=10)] == [2]
    assert [errand.lease.host_id for errand in agenda.ready(at(5), limit=10)] == [1]


@given(
    st.lists(st.tuples(st.integers(1, 5), st.floats(0, 3)), min_size=1, max_size=8),
    st.lists(st.floats(0.01, 2), min_size=60, max_size=60),
)
def test_no_host_is_ever_asked_twice_at_once_or_too_soon(
    hosts: list[tuple[int, float]], durations: list[float]
) -> None:
    agenda, now, turns = Agenda(delay=0.5), 0.0, iter(durations)
    for number, (tasks, delay) in enumerate(hosts):
        agenda.add(lease(number, tasks, delay=delay), needs_robots=False, now=NOW)
    ended: dict[int, float] = {}
    visits = 0
    while len(agenda):
        errands = agenda.ready(at(now), limit=100)
        for errand in errands:
            host = errand.lease.host_id
            pause = max(0.5, errand.lease.delay)
            assert host not in ended or now >= ended[host] + pause - 1e-3
            visits += 1
            now += next(turns)
            ended[host] = now
            agenda.done(errand, now=at(now))
        if not errands:
            now += 0.05
    assert visits == sum(tasks for tasks, _ in hosts)
