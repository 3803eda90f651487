"""Texts: what was read from documents and from any of their versions, for whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime

from rehi.archive import Archive, DerivedFiles
from rehi.errors import DataFolderBusy, LiesElsewhere, NotFound, RecordMissing
from rehi.extract import hint_of, locate
from rehi.model.document import Reading
from rehi.model.version import Version
from rehi.model.work import Claim, ReadingFacts, ReadingKey, ReadTask
from rehi.pipeline.reading import ReadDocument, ReadingPlan, read_document
from rehi.pipeline.readings import link_readings, to_new_reading
from rehi.ports import Catalogue, Executor


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

    def of_document(self, resource_id: int) -> Reading:
        """Return what a document shows; NotFound before it was read, LiesElsewhere if only another worker has it."""
        shown = self.catalogue.shown_reading(resource_id)
        if shown.facts.derived is None:
            raise NotFound(f"document {resource_id} has not been read")
        return _located(self._read_kept(shown.facts) or self._read_now(shown.task, shown.facts)[0], shown.task)

    def of_version(self, version: Version) -> Reading:
        """Return what is read from any version by today's recipe, and keep it; a ReadError if that is in vain."""
        tasks = self.catalogue.read_tasks([Claim("read", version.id, ())])
        if not tasks:
            raise NotFound(f"there is no version {version.id}")
        task = tasks[0]
        key = ReadingKey(task.blob_id, self.plan.recipe, hint_of(task.url, task.media_type))
        for reading_id in self.catalogue.find_readings([key]).values():
            facts = self.catalogue.reading(reading_id)
            return _located(self._read_kept(facts) or self._read_now(task, facts)[0], task)
        reading, document = self._read_now(task, None)
        self._keep(task, key, document)
        return _located(reading, task)

    def _read_kept(self, facts: ReadingFacts) -> Reading | None:
        """Return a reading from the derived files; None if they are not here."""
        if facts.derived is None:
            return None
        try:
            return self.derived.read(facts.derived)
        except RecordMissing:
            return None

    def _read_now(self, task: ReadTask, facts: ReadingFacts | None) -> tuple[Reading, ReadDocument]:
        if not self.archive.holds(task.body):
            owners = {known.name: known.owner for known in self.catalogue.known_files()}
            derived = facts.derived.file if facts and facts.derived else ""
            owner = owners.get(derived) or owners.get(task.body.file) or "another worker"
            raise LiesElsewhere(f"the text of document {task.resource_id} lies with the worker {owner}: ask there")
        return self.readers().submit(read_document, self.plan, task, self.clock()).result()

    def _keep(self, task: ReadTask, key: ReadingKey, document: ReadDocument) -> None:
        """Keep a reading that was just made; where a harvest is running, have that do it."""
        try:
            with self.write() as derived:
                ends = {known.name: known.known_end for known in self.catalogue.known_files()}
                derived.forget_tail(lambda file: ends.get(file, 0))
                (new,) = link_readings(self.catalogue, [to_new_reading(document, key, derived)])
                derived.sync()
                self.catalogue.enter_reading(new, worker=self.plan.worker, now=self.clock())
        except DataFolderBusy:
            self.catalogue.put("read", [task.version_id])


def _located(reading: Reading, task: ReadTask) -> Reading:
    return replace(reading, document=locate(reading.document, task.url))
