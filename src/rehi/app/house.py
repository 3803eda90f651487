"""The house: the rooms and engines of one data folder, opened when they are first needed."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from rehi import __version__
from rehi.app.folder_lock import lock_folder
from rehi.app.lost_catalogue import open_catalogue
from rehi.app.places import adopt_file, name_worker, open_archive, open_shelf
from rehi.builtin import load
from rehi.engine_address import kind_of
from rehi.errors import LiesElsewhere, NotFound, RehiError, SettingsError
from rehi.process import hold_memory, raise_descriptor_limit, utc_now
from rehi.settings import Settings

if TYPE_CHECKING:
    from rehi.archive import Archive, DerivedFiles
    from rehi.graph import PreparedQuery
    from rehi.model.document import Reading
    from rehi.model.generation import GraphRecord
    from rehi.pipeline import Discovery, Harvest
    from rehi.pipeline.clock import SharedClock
    from rehi.pipeline.reading import Texts
    from rehi.ports import Catalogue, Executor, Graph, QueryAnswer, ShelfEngine


# What reading needs for nearly every document: loaded once, before worker processes are forked.
READERS = ("rehi.pipeline.reading", "rehi.extract.html", "resiliparse.extract.html2text", "isal.isal_zlib", "orjson")
_OTHER_FILES = 512  # that may be open beside those of visits
_READERS = 2  # processes that read for whoever asks: one slow answer keeps nobody waiting


class House:
    """The rooms and engines of one data folder, opened when they are first needed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.archive_folder = settings.data / "archive"  # where the WARC files lie, those that are written to at least
        # What opens the archive for reading in other processes; it pickles.
        self.archive_opener = partial(open_archive, self.archive_folder.resolve(), settings.archive)
        self._open = ExitStack()
        self._opening = threading.Lock()
        self._catalogue: Catalogue | None = None
        self._generations: set[str] = set()  # of the graph, that were seen to be the catalogue's

    def __enter__(self) -> House:
        try:
            self.settings.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"the data folder {self.settings.data} can't be made: {error.strerror}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @cached_property
    def worker(self) -> str:
        """This worker's name, kept in its data folder: one worker for each, since the folder is locked."""
        return name_worker(self.settings.data / "worker")

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue, opened at the first use; CatalogueLost if it is gone, and files which it should know are there.

        While its database is away, each use tries again; several threads may.
        """
        return self._catalogue or self._open_catalogue()

    def begin_catalogue(self) -> Catalogue:
        """Open the catalogue though it may be empty beside what it should know: for those who fill it."""
        return self._catalogue or self._open_catalogue(anew=True)

    def _open_catalogue(self, *, anew: bool = False) -> Catalogue:
        catalogue = open_catalogue(self.settings, anew=anew)
        with self._opening:
            if self._catalogue is None:
                self._catalogue = catalogue
                self._open.callback(catalogue.close)
        if self._catalogue is not catalogue:  # another thread was first
            catalogue.close()
        return self._catalogue

    @cached_property
    def archive(self) -> Archive:
        """The archive, for reading; of what another worker has it says whose it is."""
        from rehi.archive import Archive, OwnedShelf

        shelf = OwnedShelf(self.open_files(), worker=self.worker, owners=self._owners)
        return Archive(shelf, file_bytes=1, worker="reader", software="", clock=utc_now)

    @cached_property
    def derived(self) -> DerivedFiles:
        """The derived files, for reading."""
        from rehi.archive import DerivedFiles, OwnedShelf

        shelf = OwnedShelf(self.open_derived(), worker=self.worker, owners=self._owners)
        return DerivedFiles(shelf, worker=self.worker, clock=utc_now)

    def _owners(self) -> Mapping[str, str]:
        """Return the workers by the files that lie in their folders."""
        return {known.name: known.owner for known in self.catalogue.known_files()}

    def open_files(self) -> ShelfEngine:
        """Return the shelf of the archive's files."""
        return open_shelf(self.archive_folder, self.settings.archive)

    def open_derived(self) -> ShelfEngine:
        """Return the shelf of the derived files."""
        return open_shelf(self.settings.data / "derived", self.settings.archive, part="derived")

    @cached_property
    def graph(self) -> Graph:
        """The graph, for queries; they see what was last published, also while another process writes."""
        graph = self._load_graph(writable=False)
        self._open.callback(graph.close)
        return graph

    @cached_property
    def readers(self) -> Executor:
        """Processes that read for whoever asks, guarded as those of the harvest; started with the first question."""
        executor = self._open_executor(_READERS)
        self._open.callback(executor.close)
        return executor

    def _open_executor(self, workers: int, *, preload: tuple[str, ...] = ()) -> Executor:
        uri, work = self.settings.executor, self.settings.work
        executor: Executor = load("executor", uri.partition(":")[0])(
            uri, workers=workers, timeout=work.timeout, memory=work.memory, preload=preload
        )
        return executor

    def query(self, query: str | PreparedQuery, *, media_type: str, rows: int | None = None) -> QueryAnswer:
        """Ask the graph for all rows or the first ones, within the limits that are set; LiesElsewhere if another worker has it."""
        from rehi.graph import prepare_query
        from rehi.ports import QueryLimits

        record = self.catalogue.graph_record()  # asked first: what is whole then is whole in the answer
        if self._is_elsewhere(record):
            raise LiesElsewhere(f"the graph is embedded in the worker {record.owner}: ask there")
        limits = QueryLimits(seconds=self.settings.query.timeout, memory=self.settings.query.memory, rows=rows)
        prepared = prepare_query(query) if isinstance(query, str) else query
        gap = self._find_gap(record)
        answer = self.graph.query(prepared.text, media_type=media_type, limits=limits)
        return replace(answer, incomplete=gap) if gap else answer

    def graph_gap(self) -> str:
        """Return why the graph does not say all that it should; empty if it does, as far as can be told without waiting."""
        return self._find_gap(self.catalogue.graph_record())

    def _find_gap(self, record: GraphRecord) -> str:
        from rehi.graph import find_gap

        known = record.mark.generation if record.mark else ""
        if self._is_elsewhere(record):
            return ""
        if known in self._generations and not record.rewriting and not self.graph.find_damage():
            return ""
        gap = find_gap(record, self.graph, self.settings.base)
        if not gap:
            self._generations.add(known)
        return gap

    @property
    def graph_owner(self) -> str:
        """The other worker that alone has the graph; empty if it can be asked here. Another may take it at any time."""
        record = self.catalogue.graph_record()
        return record.owner if self._is_elsewhere(record) else ""

    def _is_elsewhere(self, record: GraphRecord) -> bool:
        return not self.graph.shared and record.owner not in ("", self.worker)

    def reading(self, resource_id: int) -> Reading:
        """Return the text and the facets of a document; NotFound before it was read, LiesElsewhere if they are not here."""
        texts, shown = self.texts, self.catalogue.shown_reading(resource_id)
        if shown.facts.derived is None:
            raise NotFound(f"document {resource_id} has not been read")
        return texts.read(shown.task, shown.facts)

    @cached_property
    def texts(self) -> Texts:
        """What was read from documents and from any of their versions."""
        from rehi.pipeline.reading import ReadingPlan, Texts, current_recipe

        work = self.settings.work
        return Texts(
            catalogue=self.catalogue,
            archive=self.archive,
            derived=self.derived,
            plan=ReadingPlan(
                open_archive=self.archive_opener, worker=self.worker, work=work, recipe=current_recipe(work)
            ),
            readers=lambda: self.readers,
            write=self._writing_derived,
            clock=utc_now,
        )

    @contextmanager
    def _writing_derived(self) -> Iterator[DerivedFiles]:
        """Open the derived files to append to, while nobody harvests in this folder."""
        from rehi.archive import DerivedFiles

        with lock_folder(self.settings.data), closing(self.open_derived()) as shelf:
            file_bytes = self.settings.archive.file_bytes
            yield DerivedFiles(shelf, worker=self.worker, clock=utc_now, file_bytes=file_bytes)

    def shared_clock(self) -> SharedClock:
        """Return a clock that goes with the catalogue's: workers on several machines keep a host's pace by the same time."""
        from rehi.pipeline.clock import SharedClock

        return SharedClock(self.catalogue.clock, wall=utc_now)

    @contextmanager
    def working(self) -> Iterator[Harvest]:
        """Take the right to write in this data folder, and open everything for it; EngineAway if something does not answer."""
        from rehi.archive import Archive, DerivedFiles
        from rehi.fetch.client import FILES_PER_VISIT
        from rehi.frontier import check_settings
        from rehi.pipeline import Harvest, Rooms

        settings = self.settings
        hold_memory()
        raise_descriptor_limit(settings.fetch.connections * FILES_PER_VISIT + _OTHER_FILES)
        check_settings(settings)
        with ExitStack() as stack:
            stack.enter_context(lock_folder(settings.data))
            clock = self.shared_clock()
            archive_shelf = self.open_files()
            derived_shelf = self.open_derived()
            for shelf in (archive_shelf, derived_shelf):
                stack.callback(shelf.close)
                if shelf.shared:  # what is sealed is brought to where others can read it
                    shelf.start_uploads(self._note_upload)
            info = _crawl_info(settings)
            executor = self._open_executor(settings.work.workers or os.cpu_count() or 1, preload=READERS)
            stack.callback(executor.close)
            graph, owner = self._open_graph_for_writing(clock)
            stack.callback(graph.close)
            rooms = Rooms(
                settings=settings,
                worker=self.worker,
                clock=clock,
                catalogue=self.catalogue,
                archive=Archive(
                    archive_shelf,
                    file_bytes=settings.archive.file_bytes,
                    worker=self.worker,
                    software=f"rehi/{__version__}",
                    clock=clock,
                    settings=info,
                ),
                derived=DerivedFiles(
                    derived_shelf, worker=self.worker, clock=clock, file_bytes=settings.archive.file_bytes
                ),
                graph=graph,
                graph_owner=owner,
                executor=executor,
                spool=self.spool,
                reading_of=self.reading,
                open_archive=self.archive_opener,
                discovery=self.discovery,
            )
            # What is there by now stays: without this, the collector took 50 to 65 µs for each page, and 23 with it.
            gc.collect()
            gc.freeze()
            stack.callback(gc.unfreeze)
            harvest = Harvest(rooms)
            stack.callback(harvest.close)
            yield harvest

    @contextmanager
    def writing_graph(self) -> Iterator[Graph]:
        """Return the graph to write to, by who holds the folder's lock."""
        with closing(self._load_graph(writable=True)) as graph:
            yield graph

    @contextmanager
    def sealing(self) -> Iterator[tuple[Archive, ...]]:
        """Return the archives whose files this worker seals, its own and that of its intake; nobody writes to them meanwhile."""
        from rehi.archive import Archive

        data, size = self.settings.data, self.settings.archive.file_bytes
        with lock_folder(data), lock_folder(data, name="intake.lock"):
            names = (self.worker, f"{self.worker}-import")
            with closing(open_shelf(self.archive_folder, self.settings.archive)) as shelf:
                yield tuple(Archive(shelf, file_bytes=size, worker=name, software="", clock=utc_now) for name in names)

    def _open_graph_for_writing(self, clock: Callable[[], datetime]) -> tuple[Graph, str]:
        """Return the graph, and the other worker that alone writes it, if there is one: then it is opened for queries only."""
        graph = self._load_graph(writable=False)
        owner = self.worker
        if not graph.shared:
            owner = self.catalogue.own_graph(self.worker, uri=self.settings.graph_uri, now=clock())
        if owner != self.worker:
            return graph, owner
        graph.close()
        return self._load_graph(writable=True), ""

    @cached_property
    def discovery(self) -> Discovery:
        """The reader of sources, made for this house."""
        from rehi.pipeline import Discovery

        return Discovery(
            settings=self.settings,
            worker=self.worker,
            spool=self.spool,
            catalogue=self.catalogue,
            archive=self.archive,
            clock=self.shared_clock(),
            lock=partial(lock_folder, self.settings.data, name="intake.lock"),
            importing=self.importing,
            adopt=self.adopt,
        )

    @contextmanager
    def importing(self) -> Iterator[Archive]:
        """Open the archive for crawls made elsewhere, whose files only the intake writes; it holds its own lock."""
        from rehi.archive import Archive

        shelf = self.open_files()
        try:
            yield Archive(
                shelf,
                file_bytes=self.settings.archive.file_bytes,
                worker=f"{self.worker}-import",
                software=f"rehi/{__version__}",
                clock=utc_now,
            )
        finally:
            shelf.close()

    def adopt(self, path: Path) -> str:
        """Let the archive know a file that stays where it is, and return its name there. The file is only ever read."""
        return adopt_file(self.archive_folder, path, worker=self.worker)

    @cached_property
    def spool(self) -> Path:
        """The folder for bodies that are too large for memory."""
        folder = self.settings.data / "spool"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def check_archive(self) -> str:
        """Return one line on where the WARC files lie; an error says what is wrong there."""
        return self.open_files().check()

    def _note_upload(self, file: str, error: RehiError | None) -> None:
        """Put a file that can't be brought to the bucket on the problems list, or take it off."""
        from rehi.errors import ArchiveAway, ArchiveRefuses, ObjectDiffers
        from rehi.model.problem import Problem, ProblemKey, Stage

        others = (kind for kind in (ArchiveAway, ArchiveRefuses, ObjectDiffers) if type(error) is not kind)
        problems = [] if error is None else [Problem.of(error, stage=Stage.ARCHIVE, subject=file, at=utc_now())]
        codes = [kind.code for kind in others] + ["store-unreachable"]  # as earlier versions called it
        self.catalogue.note(problems, solved=[ProblemKey(Stage.ARCHIVE, file, code) for code in codes])

    def _load_graph(self, *, writable: bool) -> Graph:
        uri = self.settings.graph_uri
        graph: Graph = load("graph", kind_of(uri))(
            uri, writable=writable, base=self.settings.base, workers=self.settings.query.workers
        )
        return graph


def _crawl_info(settings: Settings) -> dict[str, str]:
    """Return how pages were visited, for the ``warcinfo`` of each file; nothing of it is secret."""
    fetch = settings.fetch
    return {
        "http-header-user-agent": fetch.user_agent,
        "robots": "RFC 9309",
        "delay": f"{fetch.delay:g} s between two requests to a host",
        "max-bytes": str(fetch.max_bytes),
        "connections": str(fetch.connections),
        "revisit-policy": settings.revisit.policy,
    }
