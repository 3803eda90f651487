"""Visits: from a leased host to a record that is kept."""

from __future__ import annotations

from datetime import datetime, timedelta

from rehi.errors import BadStatus, ConnectFailed, DnsFailed, HostDeferred, RobotsDenied
from rehi.fetch import Fetcher, RobotRules, read_robots, robots_url
from rehi.frontier import Agenda, Errand, wait_after_failures
from rehi.model.visit import HostLease, Visit, VisitTask
from rehi.pipeline.judgement import Judge
from rehi.pipeline.rooms import BATCH, BATCH_SECONDS, DRY_SECONDS, LEASE_SECONDS, Progress, Rooms

URLS_PER_LEASE = 20
FED_SECONDS = 0.05  # between two looks at a frontier that gives
PATIENCE_SECONDS = 0.05  # how long the wheel may stand still
HOST_FAILURES = (DnsFailed, ConnectFailed)  # the host's fault rather than the page's


class Visits:
    """The hosts that this worker holds, the requests under way, and the answers that are not kept yet."""

    def __init__(self, rooms: Rooms, progress: Progress) -> None:
        self._rooms, self._progress = rooms, progress
        self._settings, self._clock = rooms.settings.fetch, rooms.clock
        self._agenda = Agenda(delay=self._settings.delay)
        self._fetcher: Fetcher[Errand] = Fetcher(self._settings, clock=rooms.clock, spool=rooms.spool)
        self._judge = Judge(rooms.archive, rooms.catalogue, settings=self._settings)
        self._rules: dict[int, RobotRules] = {}  # of the hosts that are held
        self._finished: list[tuple[VisitTask, Visit]] = []
        self._kept_at = self._renewed_at = self._look_at = rooms.clock()
        self._frontier_dry = False

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way."""
        return not self._fetcher.in_flight and not self._finished

    @property
    def is_dry(self) -> bool:
        """Whether nothing is held, and nothing is due."""
        return not len(self._agenda) and self._frontier_dry

    def stir(self) -> None:
        """There may be something due."""
        self._frontier_dry = False
        self._look_at = self._clock()

    # lease ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def lease(self) -> bool:
        """Take hosts that are ready, as many as there are connections."""
        now = self._clock()
        if len(self._agenda) and now - self._renewed_at > timedelta(seconds=LEASE_SECONDS / 3):
            self._rooms.catalogue.renew(self._agenda.leases, ttl=LEASE_SECONDS, now=now)
            self._renewed_at = now
        room = self._settings.connections - len(self._agenda)
        if room <= 0 or now < self._look_at:
            return False
        leases = self._rooms.catalogue.lease(
            worker=self._rooms.worker, hosts=room, urls=URLS_PER_LEASE, ttl=LEASE_SECONDS, now=now
        )
        for lease in leases:
            self._agenda.add(lease, needs_robots=not self._knows_rules(lease, now), now=now)
        self._frontier_dry = not leases and not self._rests_only(now)
        self._look_at = now + timedelta(seconds=FED_SECONDS if leases else DRY_SECONDS)
        return False

    def _rests_only(self, now: datetime) -> bool:
        """Whether some host is just resting between two requests, so that it is worth waiting for."""
        ready = self._rooms.catalogue.next_ready()
        longest = max(self._settings.delay, self._settings.max_delay)
        return ready is not None and (ready - now).total_seconds() <= longest

    def _knows_rules(self, lease: HostLease, now: datetime) -> bool:
        robots = lease.robots
        if robots is None or (now - robots.fetched_at).total_seconds() >= self._settings.robots_ttl:
            return False
        rules = self._rules[lease.host_id] = RobotRules(robots)
        return not rules.deferred  # a host in trouble is asked again each time it is due

    # visit ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def visit(self) -> bool:
        """Set out to the hosts whose turn it is, and take in what has come."""
        now = self._clock()
        for errand in self._agenda.ready(now, limit=self._settings.connections - self._fetcher.in_flight):
            self._set_out(errand, now)
        for errand, visit in self._fetcher.poll(self._patience(now)):
            if errand.task is None:
                self._learn_rules(errand, visit)
            else:
                self._arrive(errand, errand.task, visit)
        return False

    def _set_out(self, errand: Errand, now: datetime) -> None:
        task = errand.task
        if task is None:
            self._fetcher.submit(errand, robots_url(errand.lease.origin), follow=True)
        elif self._rules[errand.lease.host_id].allows(task.url):
            known = task.body is not None
            self._fetcher.submit(
                errand, task.url, etag=task.etag if known else "", last_modified=task.last_modified if known else ""
            )
        else:
            denied = RobotsDenied(f"robots.txt of {errand.lease.origin} forbids it")
            self._finished.append((task, Visit(url=task.url, started_at=now, seconds=0.0, error=denied)))
            self._agenda.done(errand, now=now, asked=False)

    def _learn_rules(self, errand: Errand, visit: Visit) -> None:
        now, lease = self._clock(), errand.lease
        robots = read_robots(visit, now)
        self._rooms.catalogue.keep_robots(lease.host_id, robots)
        rules = self._rules[lease.host_id] = RobotRules(robots)
        if rules.deferred:
            reason = visit.error or BadStatus(f"it answered {robots.status}")
            error = reason if isinstance(reason, HOST_FAILURES) else HostDeferred(f"robots.txt can't be had: {reason}")
            first = lease.tasks[0]
            failed = Visit(url=first.url, started_at=visit.started_at, seconds=visit.seconds, error=error)
            self._finished.append((first, failed))
            self._put_off(lease, first, now)
            return
        self._agenda.slow_down(lease, min(rules.crawl_delay or 0.0, self._settings.max_delay))
        self._agenda.done(errand, now=now)

    def _arrive(self, errand: Errand, task: VisitTask, visit: Visit) -> None:
        self._finished.append((task, visit))
        if isinstance(visit.error, HOST_FAILURES):
            self._put_off(errand.lease, task, self._clock())
        else:
            self._agenda.done(errand, now=self._clock())

    def _put_off(self, lease: HostLease, task: VisitTask, now: datetime) -> None:
        self._agenda.put_off(lease, until=now + wait_after_failures(task.failures, settings=self._settings))

    def _patience(self, now: datetime) -> float:
        """How long to wait for the network: until the next host is ready, and never long."""
        next_at = self._agenda.next_at
        if next_at is None or self._fetcher.in_flight >= self._settings.connections:
            return PATIENCE_SECONDS
        return min(max((next_at - now).total_seconds(), 0.0), PATIENCE_SECONDS)

    # keep ───────────────────────────────────────────────────────────────────────────────────────────────────────────

    def keep(self) -> bool:
        """Keep what has come, when it is a batch or has waited long enough; whether the catalogue has changed."""
        waited = (self._clock() - self._kept_at).total_seconds() >= BATCH_SECONDS
        ripe = len(self._finished) >= BATCH or waited or not self._fetcher.in_flight
        return ripe and self._keep_now()

    def _keep_now(self) -> bool:
        now = self._kept_at = self._clock()
        finished, self._finished = self._finished, []
        released = self._agenda.take_releases()
        if not finished and not released:
            return False
        visited = self._judge.keep(finished, now=now)
        self._rooms.catalogue.record(visited, released, now=now)
        for release in released:
            self._rules.pop(release.host_id, None)
        self._progress.counts["visited"] += len(visited)
        self._progress.counts.update(item.outcome.value for item in visited)
        return True

    # begin and end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def recover(self) -> None:
        """Enter the visits that the archive holds and the catalogue has not heard of."""
        now = self._clock()
        self._rooms.catalogue.record(self._judge.recover(now=now), [], now=now)

    def leave(self) -> None:
        """Keep what has come, forget what is under way, and give every host back."""
        self._agenda.give_back(now=self._clock())
        self._keep_now()
        self._fetcher.close()
