"""Visits: from a leased host to a record that is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import ip_address

from rehi.errors import ArchiveAway, BadStatus, HostDeferred, RobotsDenied
from rehi.fetch import (
    PROBE_BYTES,
    ROBOTS_BYTES,
    Fetcher,
    front_url,
    is_app_shell,
    parse_networks,
    probe_url,
    read_probe,
    robots_url,
)
from rehi.frontier import VISIT_RULES, Agenda, Budget, PlannedRequest, Politeness, Purpose, politeness_for, zone_of
from rehi.model.claims import combine_orders
from rehi.model.host import HostOrders
from rehi.model.retention import are_references
from rehi.model.version import RecordRef
from rehi.model.visit import HostLease, Visit, Visited, VisitTask
from rehi.model.work import HostProfile, HostRelease
from rehi.pipeline.courtesy import HOST_FAILURES, Courtesy
from rehi.pipeline.judgement import Finished, Judge
from rehi.pipeline.rooms import BATCH, BATCH_BYTES, BATCH_SECONDS, DRY_SECONDS, LEASE_SECONDS, Progress, Rooms, Step

URLS_PER_LEASE = 20
HOSTS_PER_LEASE = 16  # at once: the p99 of eight workers on PostgreSQL was 83 ms so, and more than 93 ms with 32
HOSTS_PER_CONNECTION = 4  # most hosts that are held are resting
FED_SECONDS = 0.05  # between two looks at a frontier that gives
PATIENCE_SECONDS = 0.05  # how long the wheel may stand still
ORDERS_SECONDS = 1.0  # after which an operator's order is obeyed at the latest
RESTING_SECONDS = 5.0  # a host that is ready so soon is worth waiting for


@dataclass(frozen=True, slots=True)
class _Unrecorded:
    """Visits whose records are in the archive, and hosts that are given back."""

    visited: Sequence[Visited]
    released: Sequence[HostRelease]
    profiles: Sequence[HostProfile]
    now: datetime


class Visits(Step):
    """The hosts that this worker holds, the requests under way, and the answers that are not kept yet."""

    def __init__(self, rooms: Rooms, progress: Progress, *, find_update: Callable[[], int | None]) -> None:
        super().__init__(rooms, progress)
        settings = rooms.settings
        self._find_update = find_update
        self._settings, self._clock, self._time_zone = settings.fetch, rooms.clock, zone_of(settings)
        self._cdns = parse_networks(self._settings.cdns, setting="fetch.cdns")
        self._agenda = Agenda()
        self._courtesy = Courtesy(self._agenda, settings.fetch, settings.revisit)
        self._fetcher: Fetcher[PlannedRequest] = Fetcher(self._settings, clock=rooms.clock, spool=rooms.spool)
        self.wake = self._fetcher.wakeup  # stops waiting for the network: something else has come
        self.close = self._fetcher.close  # breaks off what is under way
        self._judge = Judge(rooms.archive, rooms.catalogue, settings=settings, time_zone=self._time_zone)
        self._budget = Budget(rooms.catalogue, settings.revisit.visits_per_day)
        self._finished: list[Finished] = []
        self._finished_bytes = 0
        self._profiles: list[HostProfile] = []
        self._batch: _Unrecorded | None = None  # what is kept and not on record yet
        self._kept_at = self._renewed_at = self._orders_at = rooms.clock()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way."""
        return not self._fetcher.in_flight and not self._finished and self._batch is None

    @property
    def is_dry(self) -> bool:
        """Whether no host is held, and nothing is due."""
        return not self._agenda.hosts and self._dry

    @property
    def tokens(self) -> set[str]:
        """The tokens of all leases that are held, or were and are not given back yet."""
        released = (*self._agenda.released, *(self._batch.released if self._batch else ()))
        return {lease.token for lease in self._agenda.leases} | {release.token for release in released}

    # lease ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def lease(self) -> bool:
        """Take hosts that are ready, more than there are connections since most of them rest."""
        now = self._clock()
        self._obey_orders(now)
        self._renew(now)
        room = self._settings.connections * HOSTS_PER_CONNECTION - len(self._agenda.hosts)
        if room <= 0 or now < self._look_at:
            return False
        if self._budget.visits_per_day:
            self._budget.look(now)
        left = self._budget.left
        leases = self._rooms.catalogue.lease(
            worker=self._rooms.worker,
            hosts=min(room, left, HOSTS_PER_LEASE),
            urls=min(URLS_PER_LEASE, left),
            ttl=LEASE_SECONDS,
            now=now,
        )
        if self._budget.visits_per_day:
            self._budget.left -= sum(len(lease.tasks) for lease in leases)
        for lease in leases:
            self._take_on(lease, now)
        self._dry, self._look_at = False, now + timedelta(seconds=FED_SECONDS)
        if not leases:  # a host that just rests between two requests is worth waiting for
            ready = self._rooms.catalogue.next_ready() if left > 0 else None
            longest = max(self._settings.delay, self._settings.max_delay, RESTING_SECONDS)
            self._dry = ready is None or (ready - now).total_seconds() > longest
            self._look_at = now + timedelta(seconds=DRY_SECONDS)
        return False

    def _take_on(self, lease: HostLease, now: datetime) -> None:
        """Put a host on the agenda, with all that is known of it."""
        first, shared = self._courtesy.needs_first(lease, now), self._shares_pace(lease.address)
        self._agenda.add(lease, self._manners(lease, lease.orders), first=first, now=now)
        if lease.host_id in self._courtesy.rules:
            self._courtesy.obey_known(lease)
        self._agenda.note_address(lease, lease.address, shared=shared, now=now)

    def _manners(self, lease: HostLease, orders: HostOrders) -> Politeness:
        return politeness_for(
            lease.origin, orders, settings=self._settings, time_zone=self._time_zone, strain=lease.strain
        )

    def _renew(self, now: datetime) -> None:
        if self._agenda.hosts and now - self._renewed_at > timedelta(seconds=LEASE_SECONDS / 3):
            lost = self._rooms.catalogue.renew(self._agenda.leases, ttl=LEASE_SECONDS, now=now)
            self._agenda.renewed(now + timedelta(seconds=LEASE_SECONDS), lost=lost)
            self._renewed_at = now

    def _obey_orders(self, now: datetime) -> None:
        """Let what an operator has ordered for hosts that are held hold from now on, also for requests under way."""
        if (now - self._orders_at).total_seconds() < ORDERS_SECONDS:
            return
        ordered = self._rooms.catalogue.orders(since=self._orders_at - timedelta(seconds=ORDERS_SECONDS))
        self._orders_at = now
        left_alone: set[int] = set()
        for lease in self._agenda.leases if ordered else ():
            if (orders := ordered.get(lease.host_id)) is not None:
                manners = self._manners(lease, orders)
                self._agenda.change_politeness(lease.host_id, manners, now=now)
                if manners.left_alone:
                    left_alone.add(lease.host_id)
                    self._courtesy.forget(lease.host_id)
        if left_alone:
            self._fetcher.abort(lambda request: request.lease.host_id in left_alone)

    # visit ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def visit(self) -> bool:
        """Set out to the hosts whose turn it is, and take in what has come."""
        now = self._clock()
        # What came must be on record before much more is asked for: it lies in memory as long as the catalogue is away.
        full = len(self._finished) >= 2 * BATCH or self._finished_bytes >= 2 * BATCH_BYTES
        limit = 0 if full else self._settings.connections - self._fetcher.in_flight
        requests, next_at = self._agenda.ready(now, limit=limit), self._agenda.next_at
        sent = [self._set_out(request, now) for request in requests]
        wait = PATIENCE_SECONDS
        if not all(sent):
            wait = 0.0  # the next turn of a host that was not asked after all has come
        elif next_at is not None and not full and self._fetcher.in_flight < self._settings.connections:
            wait = min(max((next_at - now).total_seconds(), 0.0), wait)  # until the next host is ready
        for request, visit in self._fetcher.poll(wait):
            self._arrive(request, visit, self._clock())
        return False

    def _set_out(self, request: PlannedRequest, now: datetime) -> bool:
        """Make a request, and return whether it was made: robots.txt may forbid it."""
        lease, task, sent = request.lease, request.task, True
        if request.purpose is Purpose.ROBOTS:
            self._fetcher.submit(request, robots_url(lease.origin), follow=True, cut_at=ROBOTS_BYTES)
        elif task is None:
            url = probe_url(lease.origin, now=now) if request.purpose is Purpose.PROBE else front_url(lease.origin)
            if self._courtesy.rules[lease.host_id].allows(url):
                self._fetcher.submit(request, url, cut_at=PROBE_BYTES + 1)  # one more, so that a longer page shows
            else:
                sent = False
        elif self._courtesy.rules[lease.host_id].allows(task.url):
            # Bytes that were dropped are asked for again, unless only references are wanted: then a 304 is answer enough.
            by_reference = task.pruned and are_references(combine_orders(task.sources).keeps)
            known = by_reference or (task.body is not None and self._holds(task.body))
            self._fetcher.submit(
                request, task.url, etag=task.etag if known else "", last_modified=task.last_modified if known else ""
            )
        else:
            denied = RobotsDenied(f"robots.txt of {lease.origin} forbids it")
            self._finish(request, task, Visit(url=task.url, started_at=now, seconds=0.0, error=denied))
            sent = False
        if not sent:
            self._agenda.done(request, now=now, seconds=None)
        return sent

    def _holds(self, ref: RecordRef) -> bool:
        """Whether a record can be had; if it is damaged, or its bucket is away, the page is asked for as a whole."""
        try:
            return ref not in self._judge.damaged and self._rooms.archive.holds(ref)
        except ArchiveAway:
            return False

    def _arrive(self, request: PlannedRequest, visit: Visit, now: datetime) -> None:
        lease = request.lease
        address = visit.answer.address if visit.answer else ""
        if request.task is not None:
            self._finish(request, request.task, visit)
            self._courtesy.react(lease, visit, now)
        elif request.purpose is Purpose.ROBOTS:
            self._learn_rules(request, visit, now)
        else:
            self._learn_errors(request, visit, now)
            self._courtesy.react(lease, visit, now)
        if self._agenda.note_address(lease, address, shared=self._shares_pace(address), now=now):
            self._agenda.done(request, now=now, seconds=visit.seconds)

    def _learn_rules(self, request: PlannedRequest, visit: Visit, now: datetime) -> None:
        lease = request.lease
        robots, rules = self._courtesy.learn_rules(lease, visit, now)
        self._profiles.append(HostProfile(host_id=lease.host_id, robots=robots))
        if rules.deferred:
            reason = visit.error or BadStatus(f"it answered {robots.status}")
            error = reason if isinstance(reason, HOST_FAILURES) else HostDeferred(f"robots.txt can't be had: {reason}")
            first = lease.tasks[0]
            failed = Visit(url=first.url, started_at=visit.started_at, seconds=visit.seconds, error=error)
            self._finish(request, first, failed)
            self._courtesy.wait_for_rules(lease, robots, visit, why=str(error), now=now)

    def _learn_errors(self, request: PlannedRequest, visit: Visit, now: datetime) -> None:
        """Learn what the host shows for what it doesn't have; if that pretends to be a page, its front page is looked at too."""
        lease = request.lease
        probe = self._courtesy.probes.get(lease.host_id)
        if request.purpose is Purpose.PROBE:
            probe = read_probe(visit, now=now)
            if probe.fingerprint:
                self._agenda.ask_first(lease, Purpose.FRONT)
        elif is_app_shell(visit, probe=probe) and probe is not None:
            probe = replace(probe, fingerprint=b"")
        if probe is not None:
            self._courtesy.probes[lease.host_id] = probe
            self._profiles.append(HostProfile(host_id=lease.host_id, probe=probe))

    def _finish(self, request: PlannedRequest, task: VisitTask, visit: Visit) -> None:
        self._finished.append(Finished(task, visit, request.lease, self._courtesy.probes.get(request.lease.host_id)))
        self._finished_bytes += visit.answer.size if visit.answer else 0

    def _shares_pace(self, address: str) -> bool:
        if not self._settings.by_address or not address:
            return False
        return not any(ip_address(address) in network for network in self._cdns)

    # keep ───────────────────────────────────────────────────────────────────────────────────────────────────────────

    def keep(self) -> bool:
        """Keep the answers that have come, once they are enough or old enough; return whether the catalogue changed."""
        waited = (self._clock() - self._kept_at).total_seconds() >= BATCH_SECONDS
        full = len(self._finished) >= BATCH or self._finished_bytes >= BATCH_BYTES
        ripe = full or waited or not self._fetcher.in_flight
        return ripe and self._keep_now()

    def _keep_now(self) -> bool:
        now = self._kept_at = self._clock()
        kept = self._record() if self._batch is not None else False
        courtesy, released = self._courtesy, self._agenda.released
        if courtesy.notes or courtesy.settled:  # what hosts ask for goes on the problems list, or is taken off
            self._rooms.catalogue.note(courtesy.notes, solved=list(courtesy.settled))
            courtesy.notes, courtesy.settled = [], set()
        digests = {item.visit.answer.digest for item in self._finished if item.visit.answer}
        known = self._rooms.catalogue.find_bodies(digests) if digests else {}  # asked before anything is taken away
        for release in released:
            courtesy.forget(release.host_id)
        visited: Sequence[Visited] = ()
        if self._finished:
            self._judge.price = self._budget.price
            visited = self._judge.keep(self._finished, known, now=now)
            self._finished, self._finished_bytes = [], 0
        if not visited and not released and not self._profiles:
            return kept
        histories = self._judge.histories
        given_back = [replace(release, history=histories.pop(release.host_id, b"")) for release in released]
        self._batch = _Unrecorded(visited, given_back, self._profiles, now)
        self._agenda.released, self._profiles = [], []
        return self._record()

    def _record(self) -> bool:
        """Record the batch that is kept. It stays in hand until that is done, and no visit is ever on record twice."""
        assert self._batch is not None
        batch = self._batch
        self._judge.damaged.record(self._rooms.catalogue, worker=self._rooms.worker, now=batch.now)
        self._rooms.catalogue.record(
            batch.visited,
            batch.released,
            rules=VISIT_RULES,
            profiles=batch.profiles,
            worker=self._rooms.worker,
            update_id=self._find_update(),
            now=batch.now,
        )
        self._batch = None
        self._progress.counts["visited"] += len(batch.visited)
        self._progress.counts.update(item.outcome.value for item in batch.visited)
        return True

    # begin and end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def recover(self, ends: Mapping[str, int]) -> None:
        """Enter the visits that the archive holds beyond what the catalogue knows of its files."""
        now = self._clock()
        if visited := self._judge.recover(ends, now=now):
            self._rooms.catalogue.record(visited, [], rules=VISIT_RULES, worker=self._rooms.worker, now=now)

    def leave(self) -> None:
        """Keep what has come, forget what is under way, and give every host back."""
        self._agenda.give_back(now=self._clock())
        self._keep_now()
        self._fetcher.close()
