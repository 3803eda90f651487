"""The judgement: what a visit came to, and the record that is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo

from rehi.archive import Archive, KeptVisit, TornPart
from rehi.errors import (
    AddressDenied,
    ArchiveAway,
    ArchiveError,
    BadAnswer,
    BadStatus,
    Disposition,
    DnsFailed,
    FetchError,
    NotFound,
    Overloaded,
    RecordDamaged,
    RecordMissing,
    RedirectLoop,
    RobotsDenied,
    SoftError,
    Truncated,
    WrongType,
)
from rehi.fetch import PAGE_BYTES, expects_file, is_page, is_soft_404, is_wrong_type, redirect_target
from rehi.frontier import Sighting, plan_rare, plan_retry, plan_soonest
from rehi.model.claims import combine_orders
from rehi.model.host import Probe
from rehi.model.http import (
    MISSING,
    NOT_MODIFIED,
    OVERLOADED,
    PARTIAL,
    PERMANENT_REDIRECTS,
    REDIRECTS,
    parse_http_date,
)
from rehi.model.inventory import KnownBody
from rehi.model.problem import Problem, Stage
from rehi.model.retention import are_references
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Answer, HostLease, Outcome, Visit, Visited, VisitTask
from rehi.pipeline.damaged_bodies import DamagedBodies
from rehi.ports import Ledger
from rehi.settings import Settings
from rehi.sources import is_visitable, normalise

A_PAGE = "a web page came where a dataset was promised"
_APART = timedelta(seconds=1)  # as CDXJ tells two versions apart
GONE_LEAST = 2  # failures before this one: a single look is no proof


@dataclass(frozen=True, slots=True)
class Finished:
    """A visit that has ended, with what is known of its resource and its host."""

    task: VisitTask
    visit: Visit
    lease: HostLease
    probe: Probe | None


@dataclass(slots=True)
class Judge:
    """Decides on a batch of visits, and keeps them in the archive before anyone is told."""

    archive: Archive
    ledger: Ledger
    settings: Settings
    time_zone: tzinfo
    price: float = 1.0  # of a visit
    histories: dict[int, bytes] = field(default_factory=dict)  # what was learned of the changes of hosts that are held
    damaged: DamagedBodies = field(default_factory=DamagedBodies)
    _alone: bool = False  # the bucket is away, so that this batch is kept without a look at what is there

    def keep(self, finished: Sequence[Finished], known: Mapping[Digest, KnownBody], *, now: datetime) -> list[Visited]:
        """Append every answer worth keeping, sync once, and say what each visit came to; ``known`` bytes are not kept again."""
        self._alone = False
        places = {digest: body.place for digest, body in known.items() if body.pruned is None}
        bodies = {digest: place for digest, place in places.items() if self._holds(place)}
        for digest in places.keys() - bodies.keys():
            if not self._alone and self.archive.has_lost(places[digest]):
                self.damaged.meet(places[digest], RecordMissing(f"{places[digest].file} is not there"))
                bodies[digest] = places[digest]
        visited = [self._judge(item, bodies, now) for item in finished]
        self.archive.sync()
        if known:
            self.damaged.welcome(visited, known)
        return visited

    def recover(self, ends: Mapping[str, int], *, now: datetime) -> list[Visited]:
        """Return what the archive holds of visits beyond the known ends of its files; torn ends go on the problems list."""
        items = list(self.archive.recover(lambda file: ends.get(file, 0)))
        if not items:
            return []
        self.ledger.note([complaint(item, now) for item in items if isinstance(item, TornPart)])
        return [self._remark(seen) for seen in self.remember([item for item in items if isinstance(item, KeptVisit)])]

    def _remark(self, seen: Visited) -> Visited:
        """Add the remark that a visit would have got, had its process not been killed."""
        if seen.outcome is not Outcome.NEW or seen.body is None:
            return seen
        try:
            before = self.ledger.versions(seen.url)[-1].media_type
        except NotFound:
            before = ""
        if not expects_file(seen.url, before):
            return seen
        with suppress(ArchiveError), self.archive.open_body(seen.body) as body:
            if is_page(body.read(PAGE_BYTES), declared=seen.media_type):
                return replace(seen, remark=WrongType(A_PAGE))
        return seen

    def remember(self, kept: Sequence[KeptVisit]) -> list[Visited]:
        """Return visits as their records tell them; a revisit whose bytes are nowhere else stands for them itself."""
        known = self.ledger.find_bodies({item.digest for item in kept})
        bodies = {digest: body.place for digest, body in known.items() if body.pruned is None}
        pruned = {digest: body.place for digest, body in known.items() if body.pruned is not None}
        visited = []
        for item in kept:
            if item.body is not None and not item.redirect_to:
                bodies.setdefault(item.digest, item.body)
            visited.append(self._enter(item, bodies.get(item.digest) or pruned.get(item.digest)))
        return visited

    def _judge(self, item: Finished, bodies: dict[Digest, RecordRef], now: datetime) -> Visited:
        """Say what a visit came to. Where the clock has gone back, it is dated after the last one to the same page.

        What was visited last is the newest version so, in the archive and for whoever makes the catalogue anew from it.
        """
        last, visit = item.task.visited_at, item.visit
        if last is None or visit.started_at >= last:
            return self._judge_dated(item, bodies, now)
        ahead = last + _APART - visit.started_at
        visited = self._judge_dated(replace(item, visit=replace(visit, started_at=last + _APART)), bodies, now + ahead)
        return replace(visited, next_at=visited.next_at - ahead if visited.next_at else None)

    def _judge_dated(self, item: Finished, bodies: dict[Digest, RecordRef], now: datetime) -> Visited:
        answer = item.visit.answer
        if answer is None:
            return self._failure(item, item.visit.error or BadStatus("there was no answer"), now)
        with answer.body:
            try:
                return self._answered(item, answer, bodies)
            except FetchError as error:
                return self._failure(item, error, now)
            except ArchiveError as error:  # what came is not what was counted while it came
                return self._failure(item, BadAnswer(str(error)), now)

    def _answered(self, item: Finished, answer: Answer, bodies: dict[Digest, RecordRef]) -> Visited:
        task, visit = item.task, item.visit
        if answer.status == NOT_MODIFIED and task.body is not None:
            record = self._keep_again(visit, task.body, unmodified=task.digest)
            return self._to_visited(
                item, answer, Outcome.UNCHANGED, changed=False, record=record, digest=task.digest, body=task.body
            )
        if answer.status in REDIRECTS:
            return self._redirected(item, answer)
        if answer.status == NOT_MODIFIED and task.pruned and are_references(combine_orders(task.sources).keeps):
            return self._still_same(item, answer)
        _check_status(answer)
        if item.probe is not None and is_soft_404(answer, url=task.url, probe=item.probe):
            raise SoftError("it is the page that the host shows for whatever it doesn't have")
        if task.pruned and answer.digest == task.digest and are_references(combine_orders(task.sources).keeps):
            return self._still_same(item, answer)
        known = bodies.get(answer.digest)
        record = self._keep(visit, task) if known is None else self._keep_again(visit, known)
        if known is not None and known in self.damaged:
            self.damaged.replace(answer.digest, lay=known, lies=record)
            bodies[answer.digest] = record
        same = answer.digest == task.digest
        return self._to_visited(
            item,
            answer,
            Outcome.UNCHANGED if same else Outcome.NEW,
            changed=None if task.digest is None else not same,
            record=record,
            digest=answer.digest,
            body=bodies.setdefault(answer.digest, record),
        )

    def _still_same(self, item: Finished, answer: Answer) -> Visited:
        """Return a visit that found the same bytes, without a record, which would hold or refer to pruned bytes."""
        return self._to_visited(item, answer, Outcome.UNCHANGED, changed=False, record=None, digest=item.task.digest)

    def _keep_again(self, visit: Visit, known: RecordRef, *, unmodified: Digest | None = None) -> RecordRef:
        """Keep a visit that found known bytes: without them.

        If nobody can say now what they were first, it is kept with what it brought: all of them, or after a 304 their digest.
        So it is if what was kept is damaged, for which no site is to blame.
        """
        if not self._alone and known not in self.damaged:
            try:
                return self.archive.keep_duplicate(visit, body=known)
            except ArchiveAway:
                self._alone = True
            except ArchiveError as error:
                self.damaged.meet(known, error)
        return (
            self.archive.keep(visit) if unmodified is None else self.archive.keep_unmodified(visit, digest=unmodified)
        )

    def _keep(self, visit: Visit, task: VisitTask) -> RecordRef:
        """Keep bytes that are new: against those that the page had before, if they are here, and whole if nobody can say."""
        if task.body is not None and self._holds(task.body):
            try:
                return self.archive.keep_change(visit, base=task.body)
            except ArchiveAway:
                self._alone = True
        return self.archive.keep(visit)

    def _holds(self, ref: RecordRef) -> bool:
        """Whether a record can be had; a bucket that is away is asked once for a batch, since that may take long."""
        try:
            return not self._alone and self.archive.holds(ref)
        except ArchiveAway:
            self._alone = True
            return False

    def _redirected(self, item: Finished, answer: Answer) -> Visited:
        task = item.task
        target = self._target(task, redirect_target(task.url, answer), answer.status)
        record = self.archive.keep(item.visit)
        return self._to_visited(item, answer, Outcome.REDIRECT, changed=False, record=record, redirect_to=target)

    def _target(self, task: VisitTask, location: str, status: int) -> str:
        target = normalise(location)
        if target is None:
            raise BadStatus(f"the server answered {status} with no usable Location")
        if not is_visitable(target):
            raise AddressDenied(f"it redirects to {target.partition(':')[0]}:, which is not visited")
        if target == task.url:
            raise RedirectLoop("it redirects to itself")
        if task.hops >= self.settings.fetch.max_redirects:
            raise RedirectLoop(f"more than {self.settings.fetch.max_redirects} redirects in a row led here")
        return target

    def _to_visited(
        self,
        item: Finished,
        answer: Answer,
        outcome: Outcome,
        *,
        changed: bool | None,
        record: RecordRef | None,
        digest: Digest | None = None,
        body: RecordRef | None = None,
        redirect_to: str = "",
    ) -> Visited:
        """Return a visit as it is recorded: with when to come back, and a remark if the bytes are not of the expected type."""
        visit, task, host_id = item.visit, item.task, item.lease.host_id
        orders = combine_orders(task.sources)
        before = task.media_type or orders.promised_type
        wrong = record is not None and is_wrong_type(answer, url=task.url, media_type_before=before)
        last_modified, known = answer.header("last-modified"), task if answer.status == NOT_MODIFIED else None
        sighting = Sighting(
            url=visit.url,
            at=visit.started_at,
            changed=changed,
            last_modified=parse_http_date(last_modified) if last_modified else None,
            promised=orders.promised,
        )
        plan = plan_soonest(
            sighting,
            policies=orders.policies,
            weight=orders.weight,
            history=task.history,
            host_history=self.histories.get(host_id, item.lease.history),
            price=self.price,
            settings=self.settings.revisit,
            time_zone=self.time_zone,
        )
        self.histories[host_id] = plan.host_history
        moved = answer.status in PERMANENT_REDIRECTS
        return Visited(
            url=visit.url,
            at=visit.started_at,
            outcome=outcome,
            next_at=plan_rare(task.url, now=visit.started_at, revisit=self.settings.revisit) if moved else plan.next_at,
            status=answer.status,
            seconds=visit.seconds,
            size=answer.size,
            digest=digest,
            media_type=answer.header("content-type"),
            etag=answer.header("etag") or (known.etag if known else ""),
            last_modified=last_modified or (known.last_modified if known else ""),
            record=record,
            body=body,
            redirect_to=redirect_to,
            remark=WrongType(A_PAGE) if wrong else None,
            history=plan.history,
        )

    def _failure(self, item: Finished, error: FetchError, now: datetime) -> Visited:
        task, visit, revisit = item.task, item.visit, self.settings.revisit
        status = visit.answer.status if visit.answer else 0
        outcome = Outcome.FAILED
        if isinstance(error, RobotsDenied | AddressDenied):
            outcome = Outcome.FORBIDDEN
        elif (status in MISSING or isinstance(error, DnsFailed)) and self._grace_is_over(task, now):
            outcome = Outcome.GONE
        if outcome is Outcome.FAILED and error.disposition is Disposition.RETRY:
            next_at = plan_retry(task.url, failures=task.failures, now=now, fetch=self.settings.fetch, revisit=revisit)
        else:
            next_at = plan_rare(task.url, now=now, revisit=revisit)
        return Visited(
            url=task.url,
            at=visit.started_at,
            outcome=outcome,
            next_at=next_at,
            status=status,
            seconds=visit.seconds,
            error=error,
        )

    def _grace_is_over(self, task: VisitTask, now: datetime) -> bool:
        since = task.failing_since
        if since is None or task.failures < GONE_LEAST:
            return False
        return (now - since).total_seconds() >= self.settings.revisit.gone_after

    def _enter(self, kept: KeptVisit, body: RecordRef | None) -> Visited:
        """Return a visit that the archive remembers; its resource's history stays as it is, without this visit."""
        target = (normalise(kept.redirect_to) or "") if kept.status in REDIRECTS else ""
        outcome = Outcome.UNCHANGED if kept.status == NOT_MODIFIED else Outcome.NEW
        headers = {name.lower(): value for name, value in kept.headers}
        sighting = Sighting(url=kept.url, at=kept.at, changed=None)
        plan = plan_soonest(sighting, price=self.price, settings=self.settings.revisit, time_zone=self.time_zone)
        return Visited(
            url=kept.url,
            at=kept.at,
            outcome=Outcome.REDIRECT if target else outcome,
            next_at=plan.next_at,
            status=kept.status,
            size=kept.size,
            digest=None if target else kept.digest,
            media_type=kept.media_type,
            etag=headers.get("etag", ""),
            last_modified=headers.get("last-modified", ""),
            record=kept.record,
            body=None if target else body,
            redirect_to=target,
        )


def _check_status(answer: Answer) -> None:
    if 200 <= answer.status < 300 and answer.status != PARTIAL:
        return
    message = f"the server answered {answer.status} {answer.reason}".rstrip()
    if answer.status in OVERLOADED:
        raise Overloaded(message)
    if answer.status == PARTIAL:
        raise Truncated(f"{message}, a part, though the whole was asked for")
    raise BadStatus(message)


def complaint(torn: TornPart, now: datetime) -> Problem:
    """Return a part of a file that can't be read as it stands on the problems list."""
    place = (
        "was set aside in the folder torn" if torn.set_aside else "lies in the middle of the file and was left there"
    )
    error = RecordDamaged(torn.why or f"{torn.length:,} bytes that are no whole record {place}")
    advice = "After a kill or a power cut this is the visit that was being written; it is made again."
    return Problem.of(
        error, stage=Stage.ARCHIVE, subject=f"{torn.file}:{torn.offset}", at=now, advice="" if torn.why else advice
    )
