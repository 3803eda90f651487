"""Reading: what a worker process does with the bytes of a few versions, and the texts of any for whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from time import process_time

from rehi import enrich, extract
from rehi.archive import Archive, DerivedFiles, write_reading
from rehi.enrich import Understanding, understand
from rehi.errors import (
    ArchiveAway,
    DataFolderBusy,
    NotFound,
    ReaderCrashed,
    ReadersAway,
    RecordDamaged,
    RecordMissing,
    RehiError,
)
from rehi.extract import hint_of, locate, read_bytes
from rehi.extract.body import file_name
from rehi.link import link, resolve
from rehi.model.document import Part, Reading, TableShape, Term
from rehi.model.entity import Identity
from rehi.model.version import Version
from rehi.model.work import Claim, FacetBrief, NewReading, ReadingFacts, ReadingKey, ReadTask
from rehi.ports import Catalogue, Executor
from rehi.process import is_shortage
from rehi.settings import WorkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingPlan:
    """How versions are to be read; the same for all of a run."""

    open_archive: Callable[[], Archive]
    worker: str  # under whose name the readings are kept
    work: WorkSettings
    recipe: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDocument:
    """What a document came to, with the records to keep, ready to be appended.

    The text is in the records: neither the body nor the text passes through the coordinator as such.
    """

    facts: ReadingFacts
    identities: tuple[Identity, ...]
    records: bytes
    recipe: str  # the plan's, but for facets that failed
    failures: Mapping[str, str]  # facets that failed, and why
    parts: tuple[Part, ...] = ()
    tables: tuple[TableShape, ...] = ()
    briefs: tuple[FacetBrief, ...] = ()
    terms: tuple[Term, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()


def current_recipe(work: WorkSettings, failures: Mapping[str, str] | None = None) -> str:
    """Return the recipe by which documents are read now: what is derived by another can be told apart, and made again.

    Facets that failed are not in it, so that a document of which one could not be had is out of date.
    """
    return f"{extract.recipe_of()} {enrich.recipe_of(failures)}" if work.enrich else extract.recipe_of()


def read_documents(plan: ReadingPlan, tasks: Sequence[ReadTask], at: datetime) -> list[ReadDocument | RehiError]:
    """Read one after another: what is wrong with one is its own, but for a crash, a hang and greed."""
    archive = plan.open_archive()
    outcomes: list[ReadDocument | RehiError] = []
    away: ArchiveAway | None = None  # the others are not tried then: each may take long, and all would be in vain
    for task in tasks:
        try:
            if away is not None:
                raise away
            outcomes.append(read_document(plan, task, at, archive=archive)[1])
        except MemoryError:
            raise
        except RehiError as error:
            away = error if isinstance(error, ArchiveAway) else away
            outcomes.append(error)
        except Exception as fault:  # of ours or of a library: one document's problem, never the others'
            kind = ReadersAway if is_shortage(fault) else ReaderCrashed
            outcomes.append(kind(f"{type(fault).__name__}: {fault}"))
    return outcomes


def make_reading(archive: Archive, task: ReadTask, plan: ReadingPlan) -> tuple[Reading, Understanding]:
    """Return what is read from a version's bytes, and what is understood of it; its links are as they are written."""
    began, work = process_time(), plan.work
    with archive.open_body(task.body) as body:
        document = read_bytes(
            body, name=file_name(task.url), media_type=task.media_type, size=task.size, max_text=work.max_text
        )
    extracted = process_time()
    understanding = understand(document) if work.enrich else Understanding()
    reading = Reading(
        document=document,
        facets=understanding.facets,
        failures=understanding.failures,
        recipe=current_recipe(work, understanding.failures) if understanding.failures else plan.recipe,
        seconds=(("extract", extracted - began), ("enrich", process_time() - extracted)),
    )
    return reading, understanding


def read_document(
    plan: ReadingPlan, task: ReadTask, at: datetime, *, archive: Archive | None = None
) -> tuple[Reading, ReadDocument]:
    """Return what is read from a version's bytes, and what is to be kept of it; without an archive, one is opened."""
    reading, understanding = make_reading(archive or plan.open_archive(), task, plan)
    document, encoded = reading.document, understanding.encoded
    records = write_reading(
        reading, url=task.url, digest=task.digest, body=task.body, at=at, worker=plan.worker, encoded=encoded
    )
    facts = ReadingFacts(
        media_type=document.media_type,
        title=document.title,
        language=reading.language,
        characters=len(document.text),
        names=len(reading.mentions),
    )
    kept = ReadDocument(
        facts=facts,
        identities=link(reading.mentions),
        records=records,
        recipe=reading.recipe,
        failures=reading.failures,
        parts=document.parts,
        tables=document.tables,
        briefs=tuple(understanding.briefs),
        terms=tuple(understanding.terms),
        seconds=reading.seconds,
    )
    return reading, kept


def to_readings(
    documents: Mapping[ReadingKey, ReadDocument],
    catalogue: Catalogue,
    derived: DerivedFiles,
    resources: Mapping[ReadingKey, int],
) -> dict[ReadingKey, NewReading]:
    """Append documents' records to the derived files, and return the readings to be entered.

    Their identities are linked to entities, as far as the catalogue knows them, and where it knows several of a name to those
    that the document of the resource has mentioned.
    """
    named = {identity.key for document in documents.values() for identity in document.identities}
    candidates = catalogue.find_candidates(named) if named else {}
    several = {key for key, some in candidates.items() if len(some) > 1}
    before = {
        key: [name.key for name in catalogue.outline(resources[key]).names]
        for key, document in documents.items()
        if any(identity.key in several for identity in document.identities)
    }
    return {
        key: NewReading(
            key=key if key.recipe == document.recipe else replace(key, recipe=document.recipe),
            identities=resolve(document.identities, candidates, before.get(key, ())),
            facts=replace(document.facts, derived=derived.files.append([document.records])),
            parts=document.parts,
            tables=document.tables,
            briefs=document.briefs,
            terms=document.terms,
        )
        for key, document in documents.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Readings that are kept, or made now in a guarded process. What another worker has kept may be made again too."""

    catalogue: Catalogue
    archive: Archive
    derived: DerivedFiles
    plan: ReadingPlan
    readers: Callable[[], Executor]
    write: Callable[[], AbstractContextManager[DerivedFiles]]  # derived files to append to; DataFolderBusy in a harvest
    clock: Callable[[], datetime]

    def of_version(self, version: Version) -> Reading:
        """Return what is read from any version by today's recipe, and keep it; a ReadError if that is in vain."""
        tasks = self.catalogue.read_tasks([Claim("read", version.id, ())])
        if not tasks:
            raise NotFound(f"there is no version {version.id}")
        task = tasks[0]
        key = ReadingKey(task.blob_id, self.plan.recipe, hint_of(task.url, task.media_type))
        for facts in self.catalogue.readings(ids=self.catalogue.find_readings([key]).values()):
            return self.read(task, facts)
        reading, document = self._read_now(task)
        self._keep(task, key, document)
        return replace(reading, document=locate(reading.document, task.url))

    def read(self, task: ReadTask, facts: ReadingFacts) -> Reading:
        """Return a reading from the derived files, or made anew if they are not here or damaged; its links lead from the task's URL.

        LiesElsewhere if only another worker has it.
        """
        reading = None
        if facts.derived is not None:
            with suppress(RecordMissing, RecordDamaged):
                reading = self.derived.read(facts.derived)
        if reading is None:
            reading, _ = self._read_now(task)
        return replace(reading, document=locate(reading.document, task.url))

    def _read_now(self, task: ReadTask) -> tuple[Reading, ReadDocument]:
        if not self.archive.holds(task.body):
            self.archive.shelf.open(task.body).close()  # says whose it is
        future = self.readers().submit(read_document, self.plan, task, self.clock())
        try:
            return future.result(2 * self.plan.work.timeout)
        except FutureTimeout as error:
            future.cancel()
            raise ReadersAway("there was no process to read it in for too long") from error

    def _keep(self, task: ReadTask, key: ReadingKey, document: ReadDocument) -> None:
        """Keep a reading that was just made; where a harvest is running, have that do it."""
        try:
            with self.write() as derived:
                ends = {known.name: known.known_end for known in self.catalogue.known_files()}
                derived.forget_tail(lambda file: ends.get(file, 0))
                new = to_readings({key: document}, self.catalogue, derived, {key: task.resource_id})
                derived.sync()
                self.catalogue.enter_reading(new[key], worker=self.plan.worker, now=self.clock())
        except DataFolderBusy:
            self.catalogue.put("read", [task.version_id])
