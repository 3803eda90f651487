"""Samples: visits, readings and names for the catalogue's contract."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO

from rehi.errors import BadStatus, FetchError, NotFound, RehiError
from rehi.frontier import VISIT_RULES
from rehi.model.captured import CapturedVisit
from rehi.model.document import Term
from rehi.model.entity import Entity, EntityKey, Form, Identity, LinkedIdentity
from rehi.model.problem import Problem, ProblemClass, Stage
from rehi.model.source import Finding, Source
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Answer, HostLease, Outcome, Visited
from rehi.model.work import (
    Claim,
    FacetBrief,
    HostProfile,
    HostRelease,
    NewReading,
    ReadingFacts,
    ReadingKey,
    ReadResult,
    ReadTask,
    ResourceDescription,
)
from rehi.pipeline.read_rules import HouseReadRules
from rehi.ports import Catalogue, ReadRules, VisitRules

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
MONTH = 30 * 86_400.0


def at(seconds: float) -> datetime:
    """Return a moment that many seconds after NOW."""
    return NOW + timedelta(seconds=seconds)


def digest_of(body: str) -> Digest:
    """Return the digest of a body."""
    return Digest("sha256:" + hashlib.sha256(body.encode()).hexdigest())


def fetched(url: str, body: str, when: float = 0, *, ref: RecordRef | None = None, next_in: float = MONTH) -> Visited:
    """Return a visit that brought a body."""
    place = ref or RecordRef("a.warc.gz", int(when * 1000), 100)
    return Visited(
        url=url, at=at(when), outcome=Outcome.NEW, next_at=at(when + next_in), status=200, seconds=0.5, size=len(body),
        digest=digest_of(body), media_type="text/html", etag=f'"{body}"', last_modified="yesterday",
        record=place, body=place,
    )  # fmt: skip


def unchanged(url: str, when: float, *, etag: str = "") -> Visited:
    """Return a visit that brought nothing new."""
    return Visited(url=url, at=at(when), outcome=Outcome.UNCHANGED, next_at=at(when + MONTH), status=304, etag=etag)


def redirected(url: str, to: str, when: float = 0) -> Visited:
    """Return a visit that was sent elsewhere."""
    return Visited(url=url, at=at(when), outcome=Outcome.REDIRECT, next_at=at(when + MONTH), status=301, redirect_to=to)


def failed(url: str, when: float = 0, *, error: FetchError | None = None, outcome: Outcome = Outcome.FAILED) -> Visited:
    """Return a visit that went wrong."""
    return Visited(
        url=url, at=at(when), outcome=outcome, next_at=at(when + 3600), status=503,
        error=error or BadStatus("the server answered 503"),
    )  # fmt: skip


def given_back(lease: HostLease, ready: float = 0, *, delay: float = 1.0, failed: bool = False) -> HostRelease:
    """Return a lease given back."""
    failures = lease.failures + 1 if failed else 0
    return HostRelease(host_id=lease.host_id, token=lease.token, ready_at=at(ready), delay=delay, failures=failures)


def captured(url: str, when: float = 0) -> CapturedVisit:
    """Return a visit of a crawl that was made elsewhere."""
    answer = Answer(
        status=200, reason="OK", http_version="1.1", request_headers=(), headers=(), address="", body=BytesIO(b"page"),
        size=4, digest=Digest("sha256:" + "c" * 64),
    )  # fmt: skip
    return CapturedVisit(url=url, at=at(when), answer=answer, where=0)


def findings(*urls: str) -> list[Finding]:
    """Return URLs as a source gives them, without any claims."""
    return [Finding(url) for url in urls]


def add(catalogue: Catalogue, *urls: str, name: str = "list.txt", when: float = 0) -> Source:
    """Add a source with these URLs taken in."""
    source = catalogue.add_source(kind="url-list", name=name, location=f"/{name}", size=10, now=at(when))
    catalogue.take_in(source, findings(*urls), cursor=b"%d" % len(urls), counts={"lines": len(urls)}, now=at(when))
    return catalogue.source(source.id)


def known_end(catalogue: Catalogue, file: str) -> int:
    """Return the end of the last record of a file that the catalogue knows; 0 for a file that it does not know."""
    return {known.name: known.known_end for known in catalogue.known_files()}.get(file, 0)


def lease_one(catalogue: Catalogue, when: float = 0, *, worker: str = "one", ttl: float = 60) -> HostLease:
    """Lease the only host that is ready."""
    leases = catalogue.lease(worker=worker, hosts=5, urls=5, ttl=ttl, now=at(when))
    assert len(leases) == 1
    return leases[0]


def claim(
    catalogue: Catalogue, when: float = 0, *, worker: str = "one", limit: int = 10, files: tuple[str, ...] = ()
) -> list[ReadTask]:
    """Return read tasks that a worker has claimed."""
    claims = catalogue.claim(("read",), worker=worker, limit=limit, ttl=60, now=at(when), files=files)
    return list(catalogue.read_tasks(claims))


PAIO = EntityKey("person", "katrin-paio")


def says(
    name: str, *, key: EntityKey = PAIO, count: int = 1, given: str = "", family: str = "", lemmas: tuple[str, ...] = ()
) -> Identity:
    """Return what a document says of an entity."""
    every = tuple(sorted({name, name.lower(), *lemmas}))
    return Identity(key=key, name=name, given=given, family=family, lemmas=every, count=count)


def place(name: str, count: int = 1) -> Identity:
    """Return what a document says of a place."""
    return says(name, key=EntityKey("place", name.lower()), count=count)


def understood(
    task: ReadTask,
    *identities: Identity,
    title: str = "A title",
    language: str = "et",
    media_type: str = "text/html",
    terms: tuple[Term, ...] = (),
    briefs: tuple[FacetBrief, ...] = (),
) -> ReadResult:
    """Return a reading of a task's bytes; its entities are all new, as far as the reader knows."""
    facts = ReadingFacts(
        media_type=media_type, title=title, language=language, characters=100,
        names=sum(identity.count for identity in identities), derived=RecordRef("derived.warc.gz", task.version_id * 10, 10),
    )  # fmt: skip
    reading = NewReading(
        key=key_of_task(task),
        facts=facts,
        identities=tuple(LinkedIdentity(identity=identity) for identity in identities),
        terms=terms,
        briefs=briefs,
    )
    return ReadResult(task=task, reading=reading, seconds=(("extract", 0.25), ("enrich", 0.5)))


def key_of_task(task: ReadTask) -> ReadingKey:
    """Return what makes the sample readings of the same bytes at the same URL the same."""
    return ReadingKey(task.blob_id, "recipe-1", task.url)


def misread(
    task: ReadTask, error: RehiError, *, retry: bool = False, noted: bool = True, when: float = 0
) -> ReadResult:
    """Return that a document could not be read, and what is to be done about it."""
    problem = Problem.of(error, stage=Stage.EXTRACT, subject=task.url, at=at(when)) if noted and not retry else None
    return ReadResult(task=task, retry=retry, problem=problem, code=error.code, seconds=(("extract", 0.25),))


class SampleReadRules(HouseReadRules):
    """The rules of the house, but for names."""

    @staticmethod
    def choose_name(names: Iterable[Form]) -> Form:
        """Choose the last name in the order of letters, the one with parts before others."""
        return max(names, key=lambda name: (name.text == name.text.title(), name.text, name.given))


READ_RULES = SampleReadRules()


def record_reads(
    catalogue: Catalogue, *results: ReadResult, rules: ReadRules = READ_RULES, worker: str = "one", when: float
) -> None:
    """Record what came of read tasks."""
    catalogue.record_reads(results, rules=rules, worker=worker, now=at(when))


def record(
    catalogue: Catalogue,
    visited: Sequence[Visited],
    released: Sequence[HostRelease] = (),
    *,
    rules: VisitRules = VISIT_RULES,
    profiles: Sequence[HostProfile] = (),
    worker: str = "one",
    update_id: int | None = None,
    now: datetime,
) -> None:
    """Record visits, by the rules of the house unless others are given."""
    catalogue.record(visited, released, rules=rules, profiles=profiles, worker=worker, update_id=update_id, now=now)


def bring(catalogue: Catalogue, url: str, body: str, *identities: Identity, when: float = 0, title: str = "") -> int:
    """Visit a URL, read what it brought, and return the resource's id."""
    record(catalogue, [fetched(url, body, when)], [], worker="one", now=at(when))
    for task in claim(catalogue, when):
        record_reads(catalogue, understood(task, *identities, title=title or url), when=when)
    return catalogue.document(url).resource_id


def entity_of(catalogue: Catalogue, key: EntityKey) -> Entity:
    """Return the entity that is known under a key, and that documents mention; NotFound if there is none."""
    known = [one.id for one in catalogue.find_candidates([key]).get(key, ()) if one.sense == key.sense]
    for entity in catalogue.describe_entities(known):
        if entity.documents:
            return entity
    raise NotFound(f"no document mentions {key}")


def count_listed(classes: Sequence[ProblemClass]) -> int:
    """Return how many problems there are of all classes."""
    return sum(one.problems for one in classes)


@dataclass(frozen=True, slots=True)
class ClaimedDescriptions:
    """The work that waits for the graph: its claims, and the resources and entities to describe."""

    claims: Sequence[Claim]
    resources: Sequence[ResourceDescription]
    entities: Sequence[Entity]


def claim_descriptions(
    catalogue: Catalogue, when: float = 0, *, worker: str = "one", limit: int = 99
) -> ClaimedDescriptions:
    """Claim the work that waits for the graph, and look its subjects up."""
    claims = catalogue.claim(("resource", "entity"), worker=worker, limit=limit, ttl=60, now=at(when))

    def subjects(kind: str) -> list[int]:
        return [claim.subject for claim in claims if claim.kind == kind]

    return ClaimedDescriptions(
        claims, catalogue.describe_resources(subjects("resource")), catalogue.describe_entities(subjects("entity"))
    )


def drain(catalogue: Catalogue) -> None:
    """Record that all that waits for the graph was written."""
    while (descriptions := claim_descriptions(catalogue)).claims:
        catalogue.record_descriptions(descriptions.claims, statements={})
