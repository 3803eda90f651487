"""The wiring: which engine stands behind which port. Nothing else knows."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import os
import re
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from rehi import __version__
from rehi.builtin import load
from rehi.errors import LiesElsewhere, RehiError, SettingsError
from rehi.folder_lock import lock_folder as lock_folder
from rehi.folder_lock import translate_error
from rehi.settings import ArchiveSettings, Settings

if TYPE_CHECKING:
    from rehi.archive import Archive, DerivedFiles
    from rehi.model.document import Reading
    from rehi.pipeline import Discovery, Harvest
    from rehi.pipeline.reading import Texts
    from rehi.ports import Catalogue, Executor, Graph, QueryAnswer, ShelfEngine

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_SAME_TIME = timedelta(milliseconds=5)  # less than a query takes now and then


# What reading needs for nearly every document: loaded once, before worker processes are forked.
READERS = ("rehi.pipeline.reading", "rehi.extract.html", "resiliparse.extract.html2text", "isal.isal_zlib", "orjson")
_READERS = 2  # processes that read for whoever asks: one slow answer keeps nobody waiting


def utc_now() -> datetime:
    """The clock that everything else is given."""
    return datetime.now(UTC)


def hold_memory() -> None:
    """Keep the memory of one body for the next: to give it back and ask again takes a tenth of the archive's CPU."""
    with suppress(AttributeError):  # a C library that has no such knobs
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 32 << 20)
        library.mallopt(_TRIM_THRESHOLD, 128 << 20)


def open_shelf(folder: Path, settings: ArchiveSettings, *, part: str = "") -> ShelfEngine:
    """Return where files lie: in the folder, or in a bucket when they are sealed; ``part`` names a place below that."""
    uri = settings.uri or f"file://{folder.resolve()}"
    shelf: ShelfEngine = load("shelf", uri.partition(":")[0])(
        f"{uri.rstrip('/')}/{part}" if settings.uri and part else uri,
        folder=folder,
        endpoint=settings.endpoint,
        region=settings.region,
        local_bytes=settings.local_bytes,
    )
    return shelf


def open_archive(folder: Path, settings: ArchiveSettings) -> Archive:
    """The archive for reading; a module-level function, so that it pickles to worker processes."""
    from rehi.archive import Archive

    return Archive(open_shelf(folder, settings), file_bytes=1, worker="reader", software="", clock=utc_now)


class House:
    """The rooms and engines of one data folder, opened when they are first needed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.archive_folder = settings.data / "archive"  # where the WARC files lie, those that are written to at least
        # What opens the archive for reading in other processes; it pickles.
        self.archive_opener = partial(open_archive, self.archive_folder.resolve(), settings.archive)
        self._open = ExitStack()

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
        path = self.settings.data / "worker"
        if not path.exists():
            host = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().partition(".")[0].lower())[:40].strip("-")
            name = f"{host or 'rehi'}-{secrets.token_hex(3)}"
            new = path.with_name(f".{name}")
            new.write_text(name, encoding="ascii")
            with suppress(FileExistsError):  # another process was first
                path.hardlink_to(new)
            new.unlink()
        return path.read_text(encoding="ascii").strip()

    @cached_property
    def catalogue(self) -> Catalogue:
        """The state of the work."""
        uri = self.settings.catalogue_uri
        catalogue: Catalogue = load("catalogue", uri.partition(":")[0])(uri)
        self._open.callback(catalogue.close)
        return catalogue

    @cached_property
    def archive(self) -> Archive:
        """The archive, for reading."""
        return self.archive_opener()

    @cached_property
    def derived(self) -> DerivedFiles:
        """The derived files, for reading."""
        from rehi.archive import DerivedFiles

        return DerivedFiles(self._open_derived(), worker=self.worker, clock=utc_now)

    def _open_derived(self) -> ShelfEngine:
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

    def query(self, text: str, *, media_type: str, rows: int | None = None) -> QueryAnswer:
        """Ask the graph for all rows or the first ones, within the limits that are set; LiesElsewhere if another worker has it."""
        from rehi.graph import prepare_query
        from rehi.ports import QueryLimits

        if self.graph_owner:
            raise LiesElsewhere(f"the graph is embedded in the worker {self.graph_owner}: ask there")
        limits = QueryLimits(seconds=self.settings.query.timeout, memory=self.settings.query.memory, rows=rows)
        return self.graph.query(prepare_query(text), media_type=media_type, limits=limits)

    @cached_property
    def graph_owner(self) -> str:
        """The other worker that alone has the graph; empty if it can be asked here."""
        if self.graph.shared:
            return ""
        owners = [known.name for known in self.catalogue.workers(now=utc_now()) if known.owns_graph]
        return next((name for name in owners if name != self.worker), "")

    def reading(self, resource_id: int) -> Reading:
        """Return the text and the facets of a document; NotFound before it was read, LiesElsewhere if they are not here."""
        return self.texts.of_document(resource_id)

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
        """The derived files to append to, while nobody harvests in this folder."""
        from rehi.archive import DerivedFiles

        with lock_folder(self.settings.data), closing(self._open_derived()) as shelf:
            file_bytes = self.settings.archive.file_bytes
            yield DerivedFiles(shelf, worker=self.worker, clock=utc_now, file_bytes=file_bytes)

    def shared_clock(self) -> Callable[[], datetime]:
        """A clock that goes with the catalogue's: workers on several machines keep a host's pace by the same time."""
        before, theirs, after = utc_now(), self.catalogue.clock(), utc_now()
        ahead = theirs - (before + (after - before) / 2)
        if abs(ahead) < _SAME_TIME:
            return utc_now
        return lambda: utc_now() + ahead

    @contextmanager
    def working(self) -> Iterator[Harvest]:
        """The right to write in this data folder, with everything opened for it."""
        from rehi.archive import Archive, DerivedFiles
        from rehi.frontier import check_settings
        from rehi.pipeline import Harvest, Rooms

        settings = self.settings
        hold_memory()
        check_settings(settings)
        clock = self.shared_clock()
        with ExitStack() as stack:
            stack.enter_context(lock_folder(settings.data))
            executor = self._open_executor(settings.work.workers or os.cpu_count() or 1, preload=READERS)
            stack.callback(executor.close)
            archive_shelf = open_shelf(self.archive_folder, settings.archive)
            derived_shelf = self._open_derived()
            for shelf in (archive_shelf, derived_shelf):
                stack.callback(shelf.close)
                if shelf.shared:  # what is sealed is brought to where others can read it
                    shelf.start_uploads(self._note_upload)
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
                    settings=_crawl_info(settings),
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
        """What it takes to read a source."""
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
        """The archive for appending crawls made elsewhere, to files that only the intake writes; it holds its own lock."""
        from rehi.archive import Archive

        shelf = open_shelf(self.archive_folder, self.settings.archive)
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
        """Let the archive know a file that stays where it is; its name there. It is only ever read."""
        from rehi.engines.folder import sync_folder

        target = path.resolve()
        mark = hashlib.sha256(f"{self.worker} {target}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", target.name.partition(".")[0]).strip("-")[:80]
        link = self.archive_folder / f"adopted-{stem}-{mark}.warc"
        try:
            self.archive_folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                link.symlink_to(target)
                sync_folder(self.archive_folder)
        except OSError as error:
            raise translate_error(error, self.archive_folder) from error
        return link.name

    @cached_property
    def spool(self) -> Path:
        """Where bodies lie that are too large for memory."""
        folder = self.settings.data / "spool"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def check_archive(self) -> str:
        """One line on where the WARC files lie; an error says what is wrong there."""
        return open_shelf(self.archive_folder, self.settings.archive).check()

    def _note_upload(self, file: str, error: RehiError | None) -> None:
        """Put a file that can't be brought to the bucket on the problems list, or take it off."""
        from rehi.errors import ObjectDiffers, StoreUnreachable
        from rehi.model.problem import Problem, ProblemKey, Stage

        others = (kind for kind in (StoreUnreachable, ObjectDiffers) if not isinstance(error, kind))
        problems = [] if error is None else [Problem.of(error, stage=Stage.ARCHIVE, subject=file, at=utc_now())]
        self.catalogue.note(problems, solved=[ProblemKey(Stage.ARCHIVE, file, kind.code) for kind in others])

    def _load_graph(self, *, writable: bool) -> Graph:
        uri = self.settings.graph_uri
        graph: Graph = load("graph", uri.partition(":")[0])(
            uri, writable=writable, base=self.settings.base, workers=self.settings.query.workers
        )
        return graph


def _crawl_info(settings: Settings) -> dict[str, str]:
    """How pages were visited, for the ``warcinfo`` of each file; nothing of it is secret."""
    fetch = settings.fetch
    return {
        "http-header-user-agent": fetch.user_agent,
        "robots": "RFC 9309",
        "delay": f"{fetch.delay:g} s between two requests to a host",
        "max-bytes": str(fetch.max_bytes),
        "connections": str(fetch.connections),
        "revisit-policy": settings.revisit.policy,
    }
