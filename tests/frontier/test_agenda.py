"""The agenda keeps a host's pace, whatever else is going on."""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from rehi.frontier import Agenda, PlannedRequest, Politeness, Purpose, parse_hours
from rehi.frontier.politeness import Pace
from rehi.model.visit import HostLease, VisitTask
from rehi.model.work import HostRelease

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)  # a Monday


def lease(host_id: int, tasks: int) -> HostLease:
    return HostLease(
        host_id=host_id,
        origin=f"http://h{host_id}.test",
        token=f"t{host_id}",
        until=NOW + timedelta(days=10),
        delay=0.0,
        robots=None,
        tasks=tuple(
            VisitTask(resource_id=host_id * 100 + n, source_id=1, url=f"http://h{host_id}.test/{n}")
            for n in range(tasks)
        ),
    )


def politeness(delay: float = 0.0, *, connections: int = 1, hours: str = "", left_alone: str = "") -> Politeness:
    return Politeness(
        pace=Pace(own=delay), connections=connections, hours=parse_hours(hours, UTC), left_alone=left_alone
    )


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def taken(agenda: Agenda) -> list[HostRelease]:
    """The leases that are to be given back, once."""
    released, agenda.released = agenda.released, []
    return released


def purposes(requests: list[PlannedRequest]) -> list[Purpose]:
    return [request.purpose for request in requests]


def test_robots_and_the_probe_come_alone_and_before_the_first_page() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 4), politeness(1.0, connections=3), first=[Purpose.ROBOTS, Purpose.PROBE], now=NOW)
    for number, purpose in enumerate((Purpose.ROBOTS, Purpose.PROBE)):
        assert agenda.ready(at(number - 0.1), limit=10) == []
        (request,) = agenda.ready(at(number), limit=10)
        assert request.purpose is purpose
        agenda.done(request, now=at(number), seconds=0.0)
    assert purposes(agenda.ready(at(2), limit=10)) == [Purpose.PAGE] * 3


def test_a_host_that_fails_again_has_failed_once_more_and_one_that_answers_not_at_all() -> None:
    agenda = Agenda()
    for number, failed in ((1, True), (2, False)):
        held = replace(lease(number, 5), failures=3)
        agenda.add(held, politeness(), first=[], now=NOW)
        agenda.put_off(held, until=at(3600), why="it must rest", failed=failed)
    assert [release.failures for release in taken(agenda)] == [4, 0]


def test_hosts_of_one_group_do_not_wait_for_one_that_failed() -> None:
    release = HostRelease(host_id=1, token="t", ready_at=at(3600), delay=2.0)
    assert release.group_ready_at(NOW) == at(3600)
    assert replace(release, failures=1).group_ready_at(NOW) == at(2)
    assert replace(release, failures=1, ready_at=at(1)).group_ready_at(NOW) == at(1)


def test_a_busy_host_is_not_asked_a_second_time() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 3), politeness(), first=[], now=NOW)
    (request,) = agenda.ready(NOW, limit=10)
    assert agenda.ready(at(100), limit=10) == []
    agenda.done(request, now=at(100), seconds=100.0)
    assert len(agenda.ready(at(100), limit=10)) == 1


def test_a_host_is_given_back_when_its_tasks_are_done_and_rests_for_its_delay() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 1), politeness(2.0), first=[], now=NOW)
    (request,) = agenda.ready(NOW, limit=10)
    agenda.done(request, now=at(5), seconds=5.0)
    (release,) = taken(agenda)
    assert (release.host_id, release.token, release.ready_at, release.failures) == (1, "t1", at(7), 0)
    assert len(agenda.hosts) == 0
    assert taken(agenda) == []


def test_a_page_that_was_not_asked_for_costs_no_pause() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 2), politeness(2.0), first=[], now=NOW)
    (request,) = agenda.ready(NOW, limit=10)
    agenda.done(request, now=NOW, seconds=None)
    assert len(agenda.ready(NOW, limit=10)) == 1


def test_a_host_in_trouble_is_put_off_with_all_its_tasks() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 5), politeness(), first=[], now=NOW)
    (request,) = agenda.ready(NOW, limit=10)
    agenda.put_off(request.lease, until=at(3600), why="nobody answers")
    (release,) = taken(agenda)
    assert (release.failures, release.ready_at, release.why) == (1, at(3600), "nobody answers")
    agenda.done(request, now=at(1), seconds=1.0)
    assert agenda.ready(at(10_000), limit=10) == []


def test_a_host_that_comes_back_is_not_asked_on_the_turn_of_the_old_lease() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 4), politeness(10.0, connections=2), first=[], now=NOW)
    first, second = agenda.ready(NOW, limit=10)
    agenda.done(first, now=at(1), seconds=1.0)  # its lane has a turn at 11
    agenda.put_off(second.lease, until=at(5), why="")
    taken(agenda)
    agenda.add(lease(1, 4), politeness(10.0), first=[], now=at(20))
    assert agenda.ready(at(15), limit=10) == []
    assert len(agenda.ready(at(20), limit=10)) == 1


def test_what_a_host_asks_for_and_how_slowly_it_answers_make_the_pause_longer() -> None:
    agenda = Agenda()
    for host, pace in ((1, Pace(own=1.0).asking(5.0)), (2, Pace(own=1.0)), (3, Pace(own=1.0, slow_factor=5.0))):
        held = lease(host, 2)
        agenda.add(held, politeness(1.0), first=[], now=NOW)
        agenda.change_pace(held, partial(replace, **asdict(pace)))
    for request in agenda.ready(NOW, limit=10):
        agenda.done(request, now=NOW, seconds=0.5)
    assert [request.lease.host_id for request in agenda.ready(at(1), limit=10)] == [2]
    assert [request.lease.host_id for request in agenda.ready(at(2.5), limit=10)] == [3]
    assert [request.lease.host_id for request in agenda.ready(at(5), limit=10)] == [1]


def test_a_host_that_is_to_be_left_alone_is_given_back_unasked() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 2), politeness(left_alone="by the settings"), first=[], now=NOW)
    assert agenda.ready(at(1), limit=10) == []
    (release,) = taken(agenda)
    assert release.ready_at > at(3600)
    assert "left alone by the settings" in release.why


def test_an_order_to_leave_a_host_alone_ends_its_turn_and_gives_nothing_back() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 2), politeness(), first=[], now=NOW)
    agenda.change_politeness(1, politeness(left_alone="by order"), now=NOW)
    assert (agenda.ready(at(1), limit=10), taken(agenda), len(agenda.hosts)) == ([], [], 0)


def test_a_host_is_visited_in_its_hours_only() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 2), politeness(hours="20:00-06:00"), first=[], now=NOW)
    (closed,) = taken(agenda)
    assert closed.ready_at == NOW.replace(hour=20)
    evening = NOW.replace(hour=20)
    agenda.add(lease(1, 5), politeness(hours="20:00-06:00"), first=[], now=evening)
    (request,) = agenda.ready(evening, limit=10)
    morning = NOW.replace(day=3, hour=6)
    agenda.done(request, now=morning, seconds=1.0)
    assert agenda.ready(morning, limit=10) == []
    (release,) = taken(agenda)
    assert release.ready_at == morning.replace(hour=20)
    assert not release.failures


def test_two_hosts_at_one_address_are_not_visited_at_once_when_they_share_a_pace() -> None:
    agenda = Agenda()
    for host in (1, 2, 3):
        agenda.add(lease(host, 3), politeness(1.0), first=[Purpose.ROBOTS], now=NOW)
    requests = agenda.ready(NOW, limit=10)
    met = [
        agenda.note_address(request.lease, address, shared=True, now=NOW)
        for request, address in zip(requests, ("10.0.0.1", "10.0.0.1", "10.0.0.2"), strict=True)
    ]
    assert met == [True, False, True]
    (release,) = taken(agenda)
    assert (release.host_id, release.pace_group, release.ready_at) == (2, "10.0.0.1", at(1))


def test_a_lease_that_has_ended_is_not_used() -> None:
    agenda = Agenda()
    agenda.add(lease(1, 2), politeness(), first=[], now=NOW)
    agenda.add(lease(2, 2), politeness(), first=[], now=NOW)
    agenda.renewed(at(60), lost=[2])
    assert [request.lease.host_id for request in agenda.ready(at(1), limit=1)] == [1]
    agenda = Agenda()
    agenda.add(lease(1, 2), politeness(), first=[], now=NOW)
    agenda.renewed(at(60), lost=[])
    assert agenda.ready(at(60), limit=10) == []
    assert len(agenda.hosts) == 0


def test_at_the_end_every_host_is_given_back_and_the_one_that_is_being_asked_rests() -> None:
    agenda = Agenda()
    for host in (1, 2):
        agenda.add(lease(host, 3), politeness(4.0), first=[], now=NOW)
    agenda.ready(NOW, limit=1)
    agenda.give_back(now=at(1))
    assert {(release.host_id, release.ready_at) for release in taken(agenda)} == {(1, at(5)), (2, at(1))}


@given(
    st.lists(st.tuples(st.integers(1, 6), st.floats(0, 3), st.integers(1, 3)), min_size=1, max_size=8),
    st.lists(st.floats(0.01, 2), min_size=60, max_size=60),
)
def test_no_host_is_ever_asked_too_often_at_once_or_too_soon(
    hosts: list[tuple[int, float, int]], durations: list[float]
) -> None:
    agenda, now, turns = Agenda(), 0.0, iter(durations)
    for number, (tasks, delay, parallel) in enumerate(hosts):
        agenda.add(lease(number, tasks), politeness(delay, connections=parallel), first=[], now=NOW)
    under_way: list[tuple[float, int, PlannedRequest]] = []
    busy: defaultdict[int, int] = defaultdict(int)
    rested: defaultdict[int, list[float]] = defaultdict(list)  # when each lane may be used again
    visits = 0
    while len(agenda.hosts):
        for request in agenda.ready(at(now), limit=100):
            host = request.lease.host_id
            busy[host] += 1
            visits += 1
            assert busy[host] <= hosts[host][2]
            free = [end for end in rested[host] if end <= now + 1e-3]
            assert len(rested[host]) < hosts[host][2] or free, "no lane had rested"
            if len(rested[host]) >= hosts[host][2]:
                rested[host].remove(min(rested[host]))
            heapq.heappush(under_way, (now + next(turns), visits, request))
        if under_way and (agenda.next_at is None or at(under_way[0][0]) <= agenda.next_at):
            now, _, request = heapq.heappop(under_way)
            host = request.lease.host_id
            busy[host] -= 1
            rested[host].append(now + hosts[host][1])
            agenda.done(request, now=at(now), seconds=0.0)
        elif agenda.next_at is not None:
            now = max(now, (agenda.next_at - NOW).total_seconds())
    assert visits == sum(tasks for tasks, _, _ in hosts)
