"""The reading: what a worker process does with the bytes of a few versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import process_time

from rehi import __version__
from rehi.archive import Archive, write_reading
from rehi.enrich import enrich
from rehi.errors import ReaderCrashed, RehiError
from rehi.extract import extract
from rehi.link import link
from rehi.model.document import Annotations, Reading
from rehi.model.entity import Identity
from rehi.model.work import DocumentFacts, ReadTask
from rehi.settings import WorkSettings

RECIPE = f"rehi/{__version__}"  # what is derived by another recipe can be told apart, and made again


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How versions are to be read; the same for all of a run."""

    open_archive: Callable[[], Archive]
    worker: str  # under whose name the readings are kept
    work: WorkSettings


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What a document came to: the facts of it, the identities in it, and the records to keep, ready to be appended.

    The text is in the records: neither the body nor the text passes through the coordinator as such.
    """

    facts: DocumentFacts
    identities: tuple[Identity, ...]
    records: bytes
    seconds: tuple[tuple[str, float], ...]


def read_documents(way: Way, tasks: Sequence[ReadTask], at: datetime) -> list[ReadDocument | RehiError]:
    """Read one after another: what is wrong with one is its own, but for a crash, a hang and greed."""
    archive = way.open_archive()
    outcomes: list[ReadDocument | RehiError] = []
    for task in tasks:
        try:
            outcomes.append(_read(archive, way, task, at))
        except MemoryError:
            raise
        except RehiError as error:
            outcomes.append(error)
        except Exception as fault:  # of ours or of a library: one document's problem, never the others'
            outcomes.append(ReaderCrashed(f"{type(fault).__name__}: {fault}"))
    return outcomes


def _read(archive: Archive, way: Way, task: ReadTask, at: datetime) -> ReadDocument:
    began = process_time()
    with archive.open_body(task.body) as body:
        document = extract(body, url=task.url, media_type=task.media_type, size=task.size, max_text=way.work.max_text)
    extracted = process_time()
    annotations = enrich(document) if way.work.enrich else Annotations(language=document.language or "und")
    seconds = (("extract", extracted - began), ("enrich", process_time() - extracted))
    reading = Reading(document=document, annotations=annotations, seconds=seconds)
    records = write_reading(
        reading, url=task.url, digest=task.digest, body=task.body, at=at, recipe=RECIPE, worker=way.worker
    )
    facts = DocumentFacts.of(document, language=annotations.language, derived=None)
    return ReadDocument(facts, link(annotations), records, seconds)
