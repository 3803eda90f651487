"""The judgement: what a visit came to, and the record that is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rehi.archive import Archive, Kept, Torn
from rehi.errors import (
    AddressDenied,
    ArchiveError,
    BadAnswer,
    BadStatus,
    FetchError,
    RecordDamaged,
    RedirectLoop,
    RobotsDenied,
)
from rehi.fetch import redirect_target
from rehi.frontier import next_visit
from rehi.model.problem import Problem, Stage
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Answer, Outcome, Visit, Visited, VisitTask
from rehi.ports import Ledger
from rehi.settings import FetchSettings
from rehi.sources import is_visitable, normalise

NOT_MODIFIED = 304
REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(slots=True)
class Judge:
    """Decides on a batch of visits, and keeps them in the archive before anyone is told."""

    archive: Archive
    ledger: Ledger
    settings: FetchSettings

    def keep(self, finished: Sequence[tuple[VisitTask, Visit]], *, now: datetime) -> list[Visited]:
        """Append every answer worth keeping, sync once, and say what each visit came to."""
        bodies = dict(self.ledger.find_body({visit.answer.digest for _, visit in finished if visit.answer}))
        visited = [self._judge(task, visit, bodies, now) for task, visit in finished]
        self.archive.sync()
        return visited

    def recover(self, *, now: datetime) -> list[Visited]:
        """What the archive holds of visits that the catalogue has not heard of; torn ends go on the problems list."""
        found = list(self.archive.recover(self.ledger.known_end))
        self.ledger.note([_complaint(item, now) for item in found if isinstance(item, Torn)])
        kept = [item for item in found if isinstance(item, Kept)]
        bodies = dict(self.ledger.find_body({item.digest for item in kept}))
        visited = []
        for item in kept:
            if item.body is not None and not item.redirect_to:
                bodies.setdefault(item.digest, item.body)
            visited.append(self._enter(item, bodies.get(item.digest), now))
        return visited

    def _judge(self, task: VisitTask, visit: Visit, bodies: dict[Digest, RecordRef], now: datetime) -> Visited:
        answer = visit.answer
        if answer is None:
            return self._failure(task, visit, visit.error or BadStatus("there was no answer"), now)
        with answer.body:
            try:
                return self._answered(task, visit, answer, bodies, now)
            except FetchError as error:
                return self._failure(task, visit, error, now)
            except ArchiveError as error:  # what came is not what was counted while it came
                return self._failure(task, visit, BadAnswer(str(error)), now)

    def _answered(
        self, task: VisitTask, visit: Visit, answer: Answer, bodies: dict[Digest, RecordRef], now: datetime
    ) -> Visited:
        came = self._came(visit, answer, now)
        if answer.status == NOT_MODIFIED and task.body is not None:
            return replace(
                came,
                outcome=Outcome.UNCHANGED,
                digest=task.digest,
                etag=came.etag or task.etag,
                last_modified=came.last_modified or task.last_modified,
                record=self.archive.keep_duplicate(visit, body=task.body),
                body=task.body,
            )
        if answer.status in REDIRECTS:
            target = self._target(task, redirect_target(task.url, answer), answer.status)
            return replace(came, outcome=Outcome.REDIRECT, record=self.archive.keep(visit), redirect_to=target)
        if not 200 <= answer.status < 300:
            raise BadStatus(f"the server answered {answer.status} {answer.reason}".rstrip())
        known = bodies.get(answer.digest)
        record = self.archive.keep(visit) if known is None else self.archive.keep_duplicate(visit, body=known)
        return replace(
            came,
            outcome=Outcome.UNCHANGED if answer.digest == task.digest else Outcome.NEW,
            digest=answer.digest,
            record=record,
            body=bodies.setdefault(answer.digest, record),
        )

    def _target(self, task: VisitTask, location: str, status: int) -> str:
        target = normalise(location)
        if target is None:
            raise BadStatus(f"the server answered {status} with no usable Location")
        if not is_visitable(target):
            raise AddressDenied(f"it redirects to {target.partition(':')[0]}:, which is not visited")
        if target == task.url:
            raise RedirectLoop("it redirects to itself")
        if task.hops >= self.settings.max_redirects:
            raise RedirectLoop(f"more than {self.settings.max_redirects} redirects in a row led here")
        return target

    def _came(self, visit: Visit, answer: Answer, now: datetime) -> Visited:
        return Visited(
            url=visit.url,
            at=visit.started_at,
            outcome=Outcome.NEW,
            next_at=next_visit(visit.url, error=None, failures=0, now=now, settings=self.settings),
            status=answer.status,
            seconds=visit.seconds,
            size=answer.size,
            media_type=answer.header("content-type"),
            etag=answer.header("etag"),
            last_modified=answer.header("last-modified"),
        )

    def _failure(self, task: VisitTask, visit: Visit, error: FetchError, now: datetime) -> Visited:
        forbidden = isinstance(error, RobotsDenied | AddressDenied)
        return Visited(
            url=task.url,
            at=visit.started_at,
            outcome=Outcome.FORBIDDEN if forbidden else Outcome.FAILED,
            next_at=next_visit(task.url, error=error, failures=task.failures, now=now, settings=self.settings),
            status=visit.answer.status if visit.answer else 0,
            seconds=visit.seconds,
            error=error,
        )

    def _enter(self, kept: Kept, body: RecordRef | None, now: datetime) -> Visited:
        target = (normalise(kept.redirect_to) or "") if kept.status in REDIRECTS else ""
        outcome = Outcome.UNCHANGED if kept.status == NOT_MODIFIED else Outcome.NEW
        headers = {name.lower(): value for name, value in kept.headers}
        return Visited(
            url=kept.url,
            at=kept.at,
            outcome=Outcome.REDIRECT if target else outcome,
            next_at=next_visit(kept.url, error=None, failures=0, now=now, settings=self.settings),
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


def _complaint(torn: Torn, now: datetime) -> Problem:
    place = (
        "was set aside in the folder torn" if torn.set_aside else "lies in the middle of the file and was left there"
    )
    return Problem(
        stage=Stage.ARCHIVE,
        code=RecordDamaged.code,
        subject=f"{torn.file}:{torn.offset}",
        message=f"{torn.length:,} bytes that are no whole record {place}",
        next_step=RecordDamaged.disposition,
        advice="After a kill or a power cut this is the visit that was being written; it is made again.",
        first_at=now,
        last_at=now,
    )
