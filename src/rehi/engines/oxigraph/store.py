"""The store: Oxigraph on disk with one writer, whose checkpoints are read by queries."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Set
from contextlib import AbstractContextManager, suppress
from importlib.metadata import version
from pathlib import Path
from threading import Lock

from pyoxigraph import BlankNode, NamedNode, Store, Triple

from rehi.engines.oxigraph import checkpoints
from rehi.engines.oxigraph.readers import OxigraphReaders, hold_checkpoint
from rehi.errors import DataFolderBusy, DiskFull, EngineError, GraphAway, GraphDamaged, RehiError
from rehi.ports import GraphChange, PublishedFiles, QueryAnswer, QueryLimits, ReplaceGraph

Subject = NamedNode | BlankNode | Triple  # what RDF 1.2 allows; ours are all named
_FAULTS = (OSError, RuntimeError)  # Oxigraph raises the second for what is damaged


class OxigraphStore:
    """Port ``Graph`` on a folder, for the one process that writes it."""

    shared = False  # it lies in a folder of one machine

    def __init__(self, folder: Path, *, base: str, workers: int = 2) -> None:
        self._folder = folder
        self._data, self._checkpoints = folder / "store", folder / "checkpoints"
        self._lock = Lock()
        self._size: int | None = None
        self._changed = True  # what a killed process wrote may be in no checkpoint
        self._closed = False
        self._inode = 0  # of the folder that was opened
        self._damage: GraphDamaged | None = None  # why it can't be used before it is renewed
        self._store: Store | None = None
        try:
            self._open()
        except GraphDamaged as error:
            self._damage = error
        self._last = checkpoints.last_number(self._checkpoints)
        checkpoints.clean(self._checkpoints)
        self._readers = OxigraphReaders(self._checkpoints, base=base, workers=workers)
        if self._store is not None and not checkpoints.numbers(self._checkpoints):
            self.publish()

    def write(self, changes: Sequence[GraphChange]) -> None:
        """Make all changes or none, on disk for good."""
        with self._lock:
            try:
                store = self._opened()
                if update := as_update(changes, store):
                    self._size, self._changed = None, True
                    store.update(update)
                    self._sync()
            except _FAULTS as error:
                raise self._give_up(error) from error

    def publish(self) -> None:
        """Make a checkpoint, so that queries see what was written; does nothing if nothing was."""
        with self._lock:
            if not self._changed:
                return
            try:
                self._opened().backup(str(checkpoints.path_of(self._checkpoints, self._last + 1)))
            except _FAULTS as error:
                raise self._give_up(error) from error
            self._last, self._changed = self._last + 1, False
            checkpoints.clean(self._checkpoints)

    def read(self, graph: NamedNode) -> Set[Triple]:
        """Return all that a named graph says, also what is not published yet."""
        with self._lock:
            try:
                return _triples_of(self._opened(), graph, None)
            except _FAULTS as error:
                raise _translate(error, self._folder) from error

    def find_damage(self) -> str:
        """Return what readers have met, or that the folder is not the one any more that was opened."""
        with self._lock:
            try:
                self._opened()
            except GraphDamaged as error:
                return str(error)
        if self._last and not checkpoints.path_of(self._checkpoints, self._last).exists():
            return f"the graph in {self._folder} is damaged: what was published is gone"
        return ""

    def renew(self) -> str:
        """Give the folder another name beside it, and begin an empty store; numbers of checkpoints go on, for those who read."""
        with self._lock:
            self._store = self._damage = None
            aside = checkpoints.set_aside(self._folder)
            self._size, self._changed = None, True
            self._open()
        self.publish()
        return aside.name if aside else ""

    def query(self, text: str, *, media_type: str, limits: QueryLimits) -> QueryAnswer:
        """Answer a query on the newest checkpoint, over the union of all graphs."""
        return self._readers.query(text, media_type=media_type, limits=limits)

    def hold_published(self) -> AbstractContextManager[PublishedFiles | None]:
        """Hold the newest checkpoint, which stays as it is meanwhile."""
        return hold_checkpoint(self._checkpoints)

    def restore(self, folder: Path) -> None:
        """Raise EngineError: what is open for writing can't be replaced."""
        raise EngineError(f"the graph in {self._folder} is open for writing")

    def verify(self) -> Iterator[str]:
        """Read every table of the newest checkpoint, and yield what is wrong with them."""
        return self._readers.verify()

    def size(self) -> int:
        """Return the number of triples; counted anew (0.5 µs each) when something was written."""
        with self._lock:
            if self._size is None:
                self._size = len(self._opened())
            return self._size

    def check(self) -> str:
        """Return one line on the engine and its size."""
        return f"Oxigraph {version('pyoxigraph')}, {self.size():,} statements in {self._folder}"

    def close(self) -> None:
        """End the reader processes and release the folder."""
        self._readers.close()
        with self._lock:
            self._closed, self._store = True, None

    def _opened(self) -> Store:
        """Return the store, opened again if it failed the last time; an empty one is never made in the place of what was there.

        Files that were deleted can be written to as long as they are open, so that it is looked each time (10 µs).
        """
        if self._damage is not None:
            raise self._damage
        if self._closed:
            raise EngineError("the graph is closed")
        try:
            (self._data / "CURRENT").stat()
            inode = self._data.stat().st_ino
        except OSError as error:
            raise _translate(error, self._folder) from error
        if self._store is not None and inode != self._inode:
            raise GraphDamaged(f"the graph in {self._folder} is damaged: another one lies where it was")
        if why := checkpoints.noted_damage(self._checkpoints):
            raise GraphDamaged(f"the graph in {self._folder} is damaged: {why}")
        return self._open() if self._store is None else self._store

    def _open(self) -> Store:
        self._store = _open(self._data)
        self._inode = self._data.stat().st_ino
        return self._store

    def _give_up(self, error: Exception) -> RehiError:
        """Close the store after a fault: it takes no more writes after one of the disk, until it is opened again."""
        self._store = self._size = None
        error.__traceback__ = None  # whose frames hold the store: while they do, it can't be opened again
        return _translate(error, self._folder)

    def _sync(self) -> None:
        """Sync Oxigraph's logs, since its commits reach the system but not the disk (2 ms; its own flush takes 20 to 50)."""
        for log in self._data.glob("*.log"):
            with suppress(FileNotFoundError):  # its content has gone to a table, which RocksDB syncs itself
                _fsync(log)
        _fsync(self._data)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path) -> Store:
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path.parent / "checkpoints").mkdir(exist_ok=True)
        if not (path / "CURRENT").exists() and any(path.glob("MANIFEST-*")):  # RocksDB would begin an empty one over it
            raise GraphDamaged(f"the graph in {path.parent} is damaged: its file CURRENT is not there")
        return Store(str(path))
    except _FAULTS as error:
        if "While lock file" in str(error) or "lock hold by" in str(error):  # by another process, or by this one
            raise DataFolderBusy(
                f"another process writes the graph in {path.parent}; stop it, or name another data folder"
            ) from error
        raise _translate(error, path.parent) from error


def _translate(error: Exception, folder: Path) -> RehiError:
    if "no space left" in str(error).lower() or "quota" in str(error).lower():
        return DiskFull(f"the disk of {folder} is full; make room and start again, nothing is lost")
    if isinstance(error, RuntimeError | FileNotFoundError):
        return GraphDamaged(f"the graph in {folder} is damaged: {str(error)[:300]}")
    return GraphAway(f"the graph in {folder} can't be used: {str(error)[:300]}")


def as_update(changes: Sequence[GraphChange], store: Store) -> str:
    """Return the SPARQL update that makes these changes; empty if the store has them already.

    Only differences are written: replacing 2,000 graphs of 20 statements runs at 1,800 a second instead of 1,100 by
    DROP and INSERT, and at 4,100 when nothing has changed.
    """
    removed: dict[NamedNode, set[Triple]] = {}
    added: dict[NamedNode, set[Triple]] = {}
    parts: list[str] = []
    for graph, (replaced, subjects) in _fold(changes).items():
        new = {triple for triples in subjects.values() for triple in triples}
        if replaced and not new:
            parts += [f"DROP SILENT GRAPH {graph}"] if store.contains_named_graph(graph) else []
            continue
        old = (
            _triples_of(store, graph, None) if replaced else {t for s in subjects for t in _triples_of(store, graph, s)}
        )
        removed[graph], added[graph] = old - new, new - old
    for verb, graphs in (("DELETE", removed), ("INSERT", added)):
        blocks = [f"GRAPH {graph} {{ {' . '.join(map(str, some))} }}" for graph, some in graphs.items() if some]
        parts += [f"{verb} DATA {{ {' '.join(blocks)} }}"] if blocks else []
    return " ;\n".join(parts)


def _fold(changes: Sequence[GraphChange]) -> dict[NamedNode, tuple[bool, dict[Subject, list[Triple]]]]:
    """Return for each graph whether it is replaced as a whole, and its new triples by subject."""
    folded: dict[NamedNode, tuple[bool, dict[Subject, list[Triple]]]] = {}
    for change in changes:
        if isinstance(change, ReplaceGraph):
            subjects: dict[Subject, list[Triple]] = {}
            for triple in change.triples:
                subjects.setdefault(triple.subject, []).append(triple)
            folded[change.graph] = (True, subjects)
        else:
            folded.setdefault(change.graph, (False, {}))[1][change.subject] = list(change.triples)
    return folded


def _triples_of(store: Store, graph: NamedNode, subject: Subject | None) -> set[Triple]:
    return {quad.triple for quad in store.quads_for_pattern(subject, None, None, graph)}
