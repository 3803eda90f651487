"""The reading: what a worker process does with one version's bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

from rehi import __version__
from rehi.archive import Archive
from rehi.enrich import enrich
from rehi.extract import extract
from rehi.link import link
from rehi.model.document import Reading
from rehi.model.entity import Identity
from rehi.model.work import ReadTask
from rehi.settings import WorkSettings

RECIPE = f"rehi/{__version__}"  # what is derived by another recipe can be told apart, and made again


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A reading with the identities that were found in it."""

    reading: Reading
    identities: tuple[Identity, ...]


def read_document(open_archive: Callable[[], Archive], task: ReadTask, *, work: WorkSettings) -> ReadDocument:
    """Fetch the bytes from the archive, read and understand them: the body never passes through the coordinator."""
    began = process_time()
    with open_archive().open_body(task.body) as body:
        document = extract(body, url=task.url, media_type=task.media_type, size=task.size, max_text=work.max_text)
    extracted = process_time()
    annotations = enrich(document, names=work.names)
    identities = link(annotations)
    seconds = (("extract", extracted - began), ("enrich", process_time() - extracted))
    return ReadDocument(Reading(document=document, annotations=annotations, seconds=seconds), identities)
