"""Retention: which versions of a source are kept, what its rule lets go, and how a pruned version is explained.

What goes is decided from the catalogue alone. Tombstones for all of it are on disk before any of it is marked, so that
a broken-off prune is finished by the next one, and an index made anew from the files drops the same. The bytes leave the
files when those are compacted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field

from rehi import __version__
from rehi.app import House, lock_folder
from rehi.archive import WholeRecord, read_tombstone, read_tombstones, tombstone_files, write_tombstones
from rehi.errors import BodyPruned
from rehi.model.retention import ALL, Rule, SharedBody, VersionHistory, parse_rule, versions_to_prune, widest_rule
from rehi.model.source import Source, SourceChange
from rehi.model.version import Digest
from rehi.operations.parameters import SourceId, readable_by
from rehi.operations.source_rows import SourceRow, make_row
from rehi.ports import Catalogue

RESOURCES = 1_000  # histories that are looked at together
AT_ONCE = 100  # bodies that several resources have


@dataclass(slots=True)
class PruneShare:
    """What is pruned of one source."""

    source_id: int
    name: str
    rule: str
    versions: int = 0  # whose bytes go
    bodies: int = 0  # different ones; those that sources share are counted with one of them
    size: int = 0  # bytes of the bodies


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """What is pruned, or would be, by source."""

    shares: tuple[PruneShare, ...]
    dry_run: bool
    unfinished: int = 0  # lists of an earlier prune that was broken off, which are gone through first
    finished: int = 0  # bodies that were pruned then

    @property
    def versions(self) -> int:
        """The versions of all sources whose bytes are pruned."""
        return sum(share.versions for share in self.shares)

    @property
    def bodies(self) -> int:
        """The bodies of all sources that are pruned."""
        return sum(share.bodies for share in self.shares)

    @property
    def size(self) -> int:
        """The bytes of these bodies."""
        return sum(share.size for share in self.shares)


def set_keep(
    house: House,
    *,
    source_id: SourceId,
    keep: Annotated[
        str,
        Field(max_length=200, description='"all", "last 5", "one per month", "references" …; empty: all.'),
        readable_by(parse_rule),
    ],
) -> SourceRow:
    """Say which versions of a source's pages are kept; nothing goes before the archive is pruned."""
    return make_row(house, order_keep(house, source_id, keep))


def check_keep(keep: str) -> None:
    """Raise SettingsError if a rule can't be understood."""
    parse_rule(keep)


def order_keep(house: House, source_id: int, keep: str) -> Source:
    """Say which versions of a source's pages are kept; nothing goes before the archive is pruned."""
    rule = parse_rule(keep)
    return house.catalogue.change_source(source_id, SourceChange(keep="" if rule.keeps_all else str(rule)))


def keep_of(source: Source) -> str:
    """Return a source's rule in words."""
    return source.keep or ALL


def plan_prune(house: House, *, source_id: int | None = None) -> Prune:
    """Return what would be pruned now; nothing is changed."""
    shares = _shares(house, source_id)
    for _ in _prunable(house.catalogue, shares):
        pass
    return Prune(shares=tuple(shares.values()), dry_run=True, unfinished=len(list(_unfinished(house))))


def prune(house: House, *, source_id: int | None = None, on_progress: Callable[[int], None] = lambda _: None) -> Prune:
    """Let go what the rules say, on record for good; DataFolderBusy if another prune is under way in this folder.

    It may be broken off at any time, and others may harvest meanwhile: a body that a new version has got stays.
    """
    shares = _shares(house, source_id)
    shelf, worker = house.archive.shelf, house.worker
    with lock_folder(house.settings.data, name="prune.lock"):
        finished = finish_prune(house)
        bodies = (body for part in _prunable(house.catalogue, shares) for body in house.catalogue.describe_bodies(part))
        now = house.shared_clock()()
        write_tombstones(shelf, bodies, at=now, worker=worker, software=f"rehi/{__version__}")
        finish_prune(house, on_progress=on_progress)
    return Prune(shares=tuple(shares.values()), dry_run=False, finished=finished)


def finish_prune(house: House, *, on_progress: Callable[[int], None] = lambda _: None) -> int:
    """Mark bodies as pruned that tombstones name and the catalogue does not know of yet; return how many."""
    done = 0
    shelf, catalogue = house.archive.shelf, house.catalogue
    for file, size, start in _unfinished(house):
        for ref, stone in read_tombstones(shelf, file, size, start=start):
            done += len(catalogue.mark_pruned(stone.bodies, at=stone.at, record=ref, worker=house.worker))
            on_progress(done)
    return done


def _unfinished(house: House) -> Iterator[tuple[str, int, int]]:
    """Yield the tombstone files that the catalogue does not know to their end: name, size, and how far it does."""
    ends = {file.name: file.known_end for file in house.catalogue.known_files()}
    for file, size in tombstone_files(house.archive.shelf):
        known = ends.get(file, 0)
        if known < size:
            yield file, size, known


def apply_tombstone(house: House, tombstone: WholeRecord) -> int:
    """Mark the bodies of a tombstone as pruned in a catalogue that was made anew; return how many."""
    stone = read_tombstone(tombstone)
    return len(house.catalogue.mark_pruned(stone.bodies, at=stone.at, record=tombstone.ref, worker=house.worker))


def explain_pruned(house: House, digest: Digest | None, *, version: str) -> BodyPruned:
    """Return the error that says why bytes are kept no more."""
    body = None if digest is None else house.catalogue.find_bodies([digest]).get(digest)
    pruned = None if body is None else body.pruned
    how = f"on {pruned.at:%Y-%m-%d} by the rule {pruned.rule!r}" if pruned is not None else "by a rule for this source"
    return BodyPruned(f"the bytes of {version} were dropped {how}; its digest, times and text are still known")


def _shares(house: House, source_id: int | None) -> dict[int, PruneShare]:
    """Return the sources that have a rule, or the one that is meant, with nothing counted yet."""
    sources: Iterable[Source] = (
        reversed(house.catalogue.sources()) if source_id is None else [house.catalogue.source(source_id)]
    )
    return {one.id: PruneShare(one.id, one.name, one.keep) for one in sources if not parse_rule(one.keep).keeps_all}


def _prunable(catalogue: Catalogue, shares: Mapping[int, PruneShare]) -> Iterator[dict[int, str]]:
    """Yield, in parts, the ids of bodies that no version keeps, each with its rule; they are counted in the shares."""
    # Versions of other sources keep bytes by their own rules, also when only one source is pruned.
    rules = {source.id: parse_rule(source.keep) for source in catalogue.sources()}
    decisions = _Decisions(catalogue, rules, tuple(shares))
    spared, after = min((rules[source_id].spared for source_id in shares), default=0), 0
    while page := catalogue.histories(sources=shares.keys(), longer_than=spared, after=after, limit=RESOURCES):
        after = page[-1].resource_id
        part: dict[int, str] = {}
        for body in decisions.prunable(page):
            share = shares[body.source_id]
            share.bodies += 1
            share.size += body.size
            for source_id in shares.keys() & body.versions.keys():
                shares[source_id].versions += body.versions[source_id]
            part[body.blob_id] = share.rule
        if part:
            yield part


@dataclass(slots=True)
class _PrunableBody:
    """A body that may be pruned, and how many versions of each source go with it."""

    blob_id: int
    source_id: int  # of the first resource that has them
    size: int
    versions: Counter[int] = field(default_factory=Counter)  # that go, by source


@dataclass(slots=True)
class _Decisions:
    """What becomes of bodies. Each is decided on at the first resource that has it, so that none is counted twice."""

    catalogue: Catalogue
    rules: Mapping[int, Rule]
    sources: Sequence[int]  # that are pruned
    _common: dict[int, SharedBody] = field(default_factory=dict)  # bodies of very many versions, to count them once

    def prunable(self, page: Sequence[VersionHistory]) -> Iterator[_PrunableBody]:
        """Yield the bodies of a page of histories that no version anywhere keeps."""
        firsts = {history.resource_id: self._counted_for(history) for history in page}
        tally = self._tally(page)
        undecided: list[tuple[SharedBody, _PrunableBody]] = []
        for shared in self._sharing(tally.going.keys() - tally.kept):
            if shared.first_resource in firsts:
                body = _PrunableBody(
                    shared.blob_id, firsts[shared.first_resource], shared.size, tally.going[shared.blob_id]
                )
                if body.versions.total() == shared.versions:
                    yield body
                else:
                    undecided.append((shared, body))
        yield from self._look_around(undecided)

    def _sharing(self, blob_ids: AbstractSet[int]) -> Iterator[SharedBody]:
        yield from (self._common[blob_id] for blob_id in blob_ids & self._common.keys())
        for shared in self.catalogue.sharing(blob_ids - self._common.keys(), sources=self.sources):
            if shared.versions > RESOURCES:
                self._common[shared.blob_id] = shared
            yield shared

    def _look_around(self, undecided: Sequence[tuple[SharedBody, _PrunableBody]]) -> Iterator[_PrunableBody]:
        """Yield those of the bodies that no resource elsewhere keeps. Those of few versions are looked up many at once."""
        few = [body for shared, body in undecided if shared.versions <= RESOURCES]
        for start in range(0, len(few), AT_ONCE):
            bodies = {body.blob_id: body for body in few[start : start + AT_ONCE]}
            tally = self._tally_of(self.catalogue.sharers(bodies, limit=RESOURCES * AT_ONCE))
            yield from (
                replace(body, versions=tally.going[row]) for row, body in bodies.items() if row not in tally.kept
            )
        for shared, body in undecided:
            if shared.versions > RESOURCES and (versions := self._count_all(body.blob_id)) is not None:
                yield replace(body, versions=versions)

    def _count_all(self, blob_id: int) -> Counter[int] | None:
        """Count the versions of a body that go, by source; None as soon as one of them stays."""
        going: Counter[int] = Counter()
        after = 0
        while pairs := self.catalogue.sharers([blob_id], after=after, limit=RESOURCES):
            tally = self._tally_of(pairs)
            if blob_id in tally.kept:
                return None
            going += tally.going[blob_id]
            after = pairs[-1][1]
        return going

    def _tally_of(self, pairs: Sequence[tuple[int, int]]) -> _Tally:
        return self._tally(self.catalogue.histories(resources={resource_id for _, resource_id in pairs}))

    def _counted_for(self, history: VersionHistory) -> int:
        """Return the source for which a resource is counted: the first of those that are pruned."""
        pruned = (source_id for source_id in history.source_ids if source_id in self.sources)
        return next(pruned, history.source_ids[0] if history.source_ids else 0)

    def _tally(self, histories: Iterable[VersionHistory]) -> _Tally:
        tally = _Tally()
        for history in histories:
            rule = widest_rule(self.rules.get(source_id, Rule()) for source_id in history.source_ids)
            gone = versions_to_prune(rule, history.versions)
            counted = self._counted_for(history)
            ids = {version.id for version in gone}
            tally.kept.update(version.blob_id for version in history.versions if version.id not in ids)
            for version in gone:
                tally.going[version.blob_id][counted] += 1
        return tally


@dataclass(slots=True)
class _Tally:
    """What becomes of the versions of some histories."""

    going: defaultdict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # by body, and source
    kept: set[int] = field(default_factory=set)  # bodies that some version keeps
