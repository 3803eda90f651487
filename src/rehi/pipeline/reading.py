"""The reading: what a worker process does with the bytes of a few versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import process_time

from rehi import extract as extract_room
from rehi.archive import Archive, write_reading
from rehi.enrich import briefs_of, enrich, recipe_of, terms_of
from rehi.errors import ReaderCrashed, RehiError
from rehi.extract import extract
from rehi.link import link
from rehi.model.document import Part, Reading, Term
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
    parts: tuple[Part, ...] = ()
    briefs: tuple[FacetBrief, ...] = ()
    terms: tuple[Term, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()


def current_recipe(work: WorkSettings) -> str:
    """Return the recipe by which documents are read now: what is derived by another can be told apart, and made again."""
    extractor = f"extract-{extract_room.VERSION}"
    return f"{extractor} {recipe_of()}" if work.enrich else extractor


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


def make_reading(archive: Archive, task: ReadTask, work: WorkSettings, recipe: str) -> Reading:
    """Return what is read from a version's bytes, and what is understood of it."""
    began = process_time()
    with archive.open_body(task.body) as body:
        document = extract(body, url=task.url, media_type=task.media_type, size=task.size, max_text=work.max_text)
    extracted = process_time()
    facets = enrich(document) if work.enrich else {}
    seconds = (("extract", extracted - began), ("enrich", process_time() - extracted))
    return Reading(document=document, facets=facets, recipe=recipe, seconds=seconds)


def read_again(open_archive: Callable[[], Archive], task: ReadTask, work: WorkSettings, recipe: str) -> Reading:
    """Return what is read from a version's bytes, for somebody who looks at it."""
    return make_reading(open_archive(), task, work, recipe)


def _read(archive: Archive, plan: ReadingPlan, task: ReadTask, at: datetime) -> ReadDocument:
    reading = make_reading(archive, task, plan.work, plan.recipe)
    records = write_reading(reading, url=task.url, digest=task.digest, body=task.body, at=at, worker=plan.worker)
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
        parts=document.parts,
        briefs=briefs_of(reading.facets),
        terms=terms_of(reading.facets),
        seconds=reading.seconds,
    )
