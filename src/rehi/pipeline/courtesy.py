"""Courtesy: what is known of the hosts that are held, and what an answer means for the whole host."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from rehi.errors import ConnectFailed, DnsFailed, TimedOut, TlsFailed
from rehi.fetch import RobotRules, read_robots, retry_after, robots_url
from rehi.frontier import Agenda, Pace, Purpose, wait_after_failures
from rehi.model.host import Probe
from rehi.model.http import OVERLOADED
from rehi.model.problem import Problem, ProblemKey, Stage
from rehi.model.visit import HostLease, Robots, Visit
from rehi.settings import FetchSettings, RevisitSettings

HOST_FAILURES = (DnsFailed, ConnectFailed, TlsFailed)  # the host's fault rather than the page's
AILING = OVERLOADED | {502, 504}
TROUBLE = 3  # bad answers in a row after which the whole host waits
PROBE_SECONDS = 7 * 86_400.0  # for which we remember what a host answers for what it doesn't have
PROBE_FROM = 5  # pages in one lease: a host with fewer isn't worth a request more
CAPPED = "crawl-delay-capped"  # a note on a robots.txt; it is struck out when it holds no longer


@dataclass(slots=True)
class Courtesy:
    """The rules, error pages and troubles of the hosts that this worker holds."""

    agenda: Agenda
    fetch: FetchSettings
    revisit: RevisitSettings
    rules: dict[int, RobotRules] = field(default_factory=dict)
    probes: dict[int, Probe] = field(default_factory=dict)
    _troubles: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))  # in a row
    notes: list[Problem] = field(default_factory=list)  # for the operator, who has not been told yet
    settled: set[ProblemKey] = field(default_factory=set)  # notes that hold no longer, if there were any

    def needs_first(self, lease: HostLease, now: datetime) -> list[Purpose]:
        """Return what must be asked of a host before any page."""
        first, robots, probe = [Purpose.ROBOTS], lease.robots, lease.probe
        if robots is not None and (now - robots.fetched_at).total_seconds() < self.fetch.robots_ttl:
            rules = self.rules[lease.host_id] = RobotRules(robots, unreachable=self.fetch.robots_unreachable)
            if not rules.deferred:  # a host in trouble is asked again each time it is due
                first = []
        if probe is not None:
            self.probes[lease.host_id] = probe
        known = probe is not None and (now - probe.at).total_seconds() < PROBE_SECONDS
        if self.fetch.soft_errors and not known and len(lease.tasks) >= PROBE_FROM:
            first.append(Purpose.PROBE)
        return first

    def learn_rules(self, lease: HostLease, visit: Visit, now: datetime) -> tuple[Robots, RobotRules]:
        """Follow a host's robots.txt from now on, as a visit brought it."""
        robots = read_robots(visit, now, before=lease.robots)
        rules = self.rules[lease.host_id] = RobotRules(robots, unreachable=self.fetch.robots_unreachable)
        asked, most = rules.crawl_delay or 0.0, self.fetch.max_delay
        pace = self.agenda.change_pace(lease, partial(Pace.asking, seconds=min(asked, most)))
        granted = max(most, pace.own) if pace else most
        if not rules.deferred and asked > granted:
            self.notes.append(_complaint(lease, asked, granted, now))
        elif not rules.deferred:
            self.settled.add(ProblemKey(Stage.FETCH, robots_url(lease.origin), CAPPED))
        return robots, rules

    def obey_known(self, lease: HostLease) -> None:
        """Visit a host at its known Crawl-delay, up to the cap of the settings, which may have been raised."""
        asked, most = self.rules[lease.host_id].crawl_delay or 0.0, self.fetch.max_delay
        pace = self.agenda.change_pace(lease, partial(Pace.asking, seconds=min(asked, most)))
        if pace is not None and 0.0 < asked <= max(most, pace.own):
            self.settled.add(ProblemKey(Stage.FETCH, robots_url(lease.origin), CAPPED))

    def react(self, lease: HostLease, visit: Visit, now: datetime) -> None:
        """Slow down, put the host off or relax, as its answer asks for."""
        error, status = visit.error, visit.answer.status if visit.answer else 0
        if isinstance(error, HOST_FAILURES):
            self.put_off(lease, str(error), now)
            return
        if not isinstance(error, TimedOut) and status not in AILING:
            self._troubles.pop(lease.host_id, None)
            if error is None:
                self.agenda.change_pace(lease, Pace.relax)
            return
        pace = self.agenda.change_pace(lease, Pace.tighten)
        if pace is None:
            return
        self._troubles[lease.host_id] += 1
        wait = retry_after(visit.answer, now=now) if visit.answer else None
        if wait is not None:
            until = now + max(wait, timedelta(seconds=pace.usual))
            self.agenda.put_off(lease, until=until, why=f"it answered {status} and asked us to wait", failed=False)
        elif self._troubles[lease.host_id] >= TROUBLE:
            self.put_off(lease, str(error or f"it answered {status}, {TROUBLE} times in a row"), now)

    def put_off(self, lease: HostLease, why: str, now: datetime) -> None:
        """Give a host in trouble back, for longer each time."""
        wait = wait_after_failures(lease.failures, fetch=self.fetch, revisit=self.revisit)
        self.agenda.put_off(lease, until=now + wait, why=why)

    def wait_for_rules(self, lease: HostLease, robots: Robots, visit: Visit, *, why: str, now: datetime) -> None:
        """Give a host back whose robots.txt can't be had: for as long as it asks, or for longer each time.

        It is asked again at the latest when we need to wait for its robots.txt no longer.
        """
        wait = wait_after_failures(lease.failures, fetch=self.fetch, revisit=self.revisit)
        given_up_at = (robots.failing_since or now) + timedelta(seconds=self.fetch.robots_unreachable)
        until = min(now + wait, max(given_up_at, now))
        if visit.answer is not None and (asked := retry_after(visit.answer, now=now)) is not None:
            until = max(until, now + asked)
        self.agenda.put_off(lease, until=until, why=why)

    def forget(self, host_id: int) -> None:
        """Forget a host that is not held any more."""
        for known in (self.rules, self.probes, self._troubles):
            known.pop(host_id, None)


def _complaint(lease: HostLease, asked: float, granted: float, now: datetime) -> Problem:
    """Return a note that a host asks for a longer pause than it gets."""
    return Problem(
        stage=Stage.FETCH,
        code=CAPPED,
        subject=robots_url(lease.origin),
        message=f"it asks for {asked:g} seconds between two requests and gets {granted:g}",
        next_step="skip",
        advice="Raise fetch.max_delay, or set a delay for the host, to obey it.",
        first_at=now,
        last_at=now,
    )
