"""The reading: what a worker process does with the bytes of a few versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import process_time

from rehi import enrich, extract
from rehi.archive import Archive, write_reading
from rehi.enrich import Understanding, understand
from rehi.errors import ReaderCrashed, RehiError
from rehi.extract import read_bytes
from rehi.extract.body import file_name
from rehi.link import link
from rehi.model.document import Part, Reading, TableShape, Term
from rehi.model.entity import Identity
from rehi.model.work import FacetBrief, ReadingFacts, ReadTask
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
    for task in tasks:
        try:
            outcomes.append(_read(archive, plan, task, at))
        except MemoryError:
            raise
        except RehiError as error:
            outcomes.append(error)
        except Exception as fault:  # of ours or of a library: one document's problem, never the others'
            outcomes.append(ReaderCrashed(f"{type(fault).__name__}: {fault}"))
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


def read_document(plan: ReadingPlan, task: ReadTask, at: datetime) -> tuple[Reading, ReadDocument]:
    """Return what is read from a version's bytes for somebody who asks, and what is to be kept of it."""
    reading, understanding = make_reading(plan.open_archive(), task, plan)
    return reading, _pack(plan, task, reading, understanding, at)


def _read(archive: Archive, plan: ReadingPlan, task: ReadTask, at: datetime) -> ReadDocument:
    return _pack(plan, task, *make_reading(archive, task, plan), at)


def _pack(
    plan: ReadingPlan, task: ReadTask, reading: Reading, understanding: Understanding, at: datetime
) -> ReadDocument:
    """Return what is to be kept of a reading."""
    records = write_reading(
        reading,
        url=task.url,
        digest=task.digest,
        body=task.body,
        at=at,
        worker=plan.worker,
        encoded=understanding.encoded,
    )
    document = reading.document
    facts = ReadingFacts(
        media_type=document.media_type,
        title=document.title,
        language=reading.language,
        characters=len(document.text),
        names=len(reading.mentions),
    )
    return ReadDocument(
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
