"""Compaction: files are written anew without the bodies that were pruned, while others read on.

What is replaced is only ever removed after all that replaces it is on disk. First the new files are put beside the old
ones, then one file of moves says where each record is now, and that is the moment at which it happens; then the old
files go. Whatever breaks off before that moment has changed nothing, and what is left to remove after it is removed by
the next compaction.

A delta that is based on a pruned version is written anew, based on the nearest version that stays, or on nothing. Its
content is the same as before, so deltas that are based on it need not be touched.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rehi.archive.body import read_fields_of
from rehi.archive.chain import ChainLink, decode_chain, read_chain, read_chain_link, split_content
from rehi.archive.delta import encode
from rehi.archive.http_head import read_http_head
from rehi.archive.member import CHUNK
from rehi.archive.moves import FollowingShelf, write_moves
from rehi.archive.record import DELTA, block_fields, field_lines, pack_record
from rehi.archive.seal import index_name, seal_file
from rehi.archive.walk import SUFFIX, DamagedPart, Walk
from rehi.errors import RecordDamaged
from rehi.model.version import RecordRef

_COMPACTED = re.compile(r"(.+?)(?:-c([0-9]+))?\.warc\.gz")
_OF_BODY = frozenset(
    {
        "WARC-Type", "WARC-Payload-Digest", "WARC-Block-Digest", "WARC-Refers-To-Target-URI", "Content-Type",
        "Content-Length", "Rehi-Payload-Digest", "Rehi-Base", "Rehi-Base-Digest", "Rehi-Step", "Rehi-Payload-Length",
    }
)  # fmt: skip
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """How one file is written anew: the offsets of bodies that are pruned, and of deltas that need another base."""

    file: str
    size: int
    pruned: frozenset[int]
    rebased: frozenset[int]


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """How files are written anew."""

    files: tuple[FilePlan, ...]
    condemned: frozenset[RecordRef]  # bodies that are pruned, now or later
    waiting: int  # bodies that stay for now, since deltas are based on them
    unsealed: int  # pruned bodies in files that are still written to


@dataclass(slots=True)
class Compacted:
    """The result of a compaction."""

    files: int = 0
    bodies: int = 0  # that are gone
    rebased: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    waiting: int = 0  # bodies that stay for now, since deltas are based on them
    unsealed: int = 0  # bodies that stay, since their file is still written to


def new_name(file: str) -> str:
    """Return the name of a file after its compaction; never one that a worker would append to."""
    match = _COMPACTED.fullmatch(file)
    if match is None:
        raise RecordDamaged(f"{file} is no file of the archive")
    return f"{match[1]}-c{int(match[2] or 0) + 1}{SUFFIX}"


def original_name(file: str) -> str:
    """Return the name that a file had before any compaction: the one that the catalogue knows."""
    match = _COMPACTED.fullmatch(file)
    return f"{match[1]}{SUFFIX}" if match else file


def own_files(worker: str) -> re.Pattern[str]:
    """Return a pattern for the names of a worker's files."""
    return re.compile(rf".*-{re.escape(worker)}(-import)?-[0-9]+(-c[0-9]+)?\.warc\.gz")


def plan_compaction(
    shelf: FollowingShelf, pruned: Iterable[RecordRef], *, at_once: bool, only_of: str = ""
) -> CompactionPlan:
    """Return how files must be written anew to drop these bodies, as far as they are in sealed files.

    All files are read, to see which delta is based on which record. With ``at_once`` nobody may be writing; without it a
    body is dropped only if no delta was based on it before this compaction, as somebody may be writing one right now.
    ``only_of`` names the worker whose files may be written anew, so that workers that share a shelf don't write the same.
    """
    clean_up(shelf)
    names = {name for name, _ in shelf.files()}
    sizes = {file: size for file, size in shelf.files() if file.endswith(SUFFIX)}
    own = own_files(only_of) if only_of else re.compile(".*")
    sealed = {file for file in sizes if index_name(file) in names and own.fullmatch(file)}
    places = [place for ref in pruned if (place := shelf.find(ref) or ref).file in sizes]
    condemned = frozenset(place for place in places if place.file in sealed and _is_body(shelf, place))
    bases = dict(_deltas_based_on(shelf, sizes, condemned))
    rebased = {child for child in bases if child not in condemned and child.file in sealed}
    needed: set[RecordRef] = set()
    for child in bases.keys() - condemned:
        base = bases[child] if child not in rebased or not at_once else None
        while base is not None:  # what is needed still needs its own base
            needed.add(base)
            base = bases.get(base)
    changes: dict[str, tuple[set[int], set[int]]] = {}
    for place in condemned - needed:
        changes.setdefault(place.file, (set(), set()))[0].add(place.offset)
    for place in rebased:
        changes.setdefault(place.file, (set(), set()))[1].add(place.offset)
    files = [FilePlan(file, sizes[file], *map(frozenset, changes[file])) for file in sorted(changes)]
    return CompactionPlan(tuple(files), condemned, len(needed), sum(place.file not in sealed for place in places))


def _is_body(shelf: FollowingShelf, place: RecordRef) -> bool:
    """Whether a record still has a body; it has none after an earlier compaction."""
    return read_fields_of(shelf, place).kind in ("response", DELTA)


def _deltas_based_on(
    shelf: FollowingShelf, sizes: Mapping[str, int], gone: frozenset[RecordRef]
) -> Iterator[tuple[RecordRef, RecordRef]]:
    """Yield the deltas that are based on one of these records, each with its base."""
    for file, size in sizes.items() if gone else ():
        if shelf.is_moved(file):
            continue
        for item in Walk(shelf, file, size, decode_deltas=False).records():
            if isinstance(item, DamagedPart) or item.fields.kind != DELTA or (named_base := item.fields.base) is None:
                continue
            base = shelf.find(named_base) or named_base
            if base in gone:
                yield item.ref, base


def compact(
    shelf: FollowingShelf,
    plan: CompactionPlan,
    *,
    worker: str,
    now: datetime,
    spool: Path | None = None,
    on_file: Callable[[str], None] = lambda _: None,
) -> Compacted:
    """Write the files of a plan anew. If one of them is damaged, nothing is changed: RecordDamaged says where."""
    result = Compacted(waiting=plan.waiting, unsealed=plan.unsealed)
    moves: dict[str, list[tuple[RecordRef, RecordRef]]] = {}
    for part in plan.files:
        on_file(part.file)
        rewriting = _FileRewrite(shelf, part, plan.condemned)
        shelf.put(new_name(part.file), rewriting.chunks())
        moves[part.file] = rewriting.moves
        seal_file(shelf, new_name(part.file), rewriting.end, spool=spool)
        result.bytes_before += part.size
        result.bytes_after += rewriting.end
        result.files, result.bodies = result.files + 1, result.bodies + len(part.pruned)
        result.rebased += len(part.rebased)
    if moves:
        shelf.put(shelf.next_name(worker), write_moves(moves, now=now))
        shelf.look()
        clean_up(shelf)
    return result


def clean_up(shelf: FollowingShelf) -> None:
    """Remove the files that were replaced."""
    shelf.look()
    for file, _ in shelf.files():
        if file.endswith(SUFFIX) and shelf.is_moved(file):
            shelf.remove(index_name(file))
            shelf.remove(file)


class _FileRewrite:
    """The rewriting of one file: the bytes of the new one, and where its records are now."""

    def __init__(self, shelf: FollowingShelf, plan: FilePlan, condemned: frozenset[RecordRef]) -> None:
        self._shelf, self._plan, self._condemned = shelf, plan, condemned
        self._file = new_name(plan.file)
        self.moves: list[tuple[RecordRef, RecordRef]] = []
        self.end = 0

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the new file; RecordDamaged if the old one is damaged."""
        plan = self._plan
        for item in Walk(self._shelf, plan.file, plan.size, decode_deltas=False).records():
            if isinstance(item, DamagedPart):
                raise RecordDamaged(f"{plan.file}:{item.ref.offset}: {item.why}; nothing was compacted")
            start = self.end
            if item.ref.offset in plan.pruned:
                yield self._counted(_without_body(read_chain_link(self._shelf, item.ref), self._shelf))
            elif item.ref.offset in plan.rebased:
                yield self._counted(self._rebase(read_chain_link(self._shelf, item.ref)))
            else:
                with self._shelf.open(item.ref) as stream:
                    while chunk := stream.read(CHUNK):
                        yield self._counted(chunk)
            self.moves.append((item.ref, RecordRef(self._file, start, self.end - start)))

    def _counted(self, chunk: bytes) -> bytes:
        self.end += len(chunk)
        return chunk

    def _rebase(self, link: ChainLink) -> bytes:
        """Return a delta record based on the nearest version of its chain that stays, or on nothing."""
        chain = read_chain(self._shelf, link)
        content = decode_chain(chain)
        staying = [part for part in chain[1:] if not self._goes(part.ref)]
        fields = [
            field for field in link.fields.fields if field[0] not in ("Rehi-Base", "Rehi-Base-Digest", "Content-Length")
        ]
        base = b""
        if staying:
            base = decode_chain(chain[chain.index(staying[0]) :])
            place = staying[0].ref
            fields.append(("Rehi-Base", f"{place.file} {place.offset} {place.length}"))
            fields.append(("Rehi-Base-Digest", staying[0].fields.payload_digest or ""))
        packed = encode(content, base=base)
        return pack_record(field_lines([*fields, ("Content-Length", str(len(packed)))]), packed, stored=True)

    def _goes(self, ref: RecordRef) -> bool:
        return (self._shelf.find(ref) or ref) in self._condemned


def _without_body(link: ChainLink, shelf: FollowingShelf) -> bytes:
    """Return the record without its body: a revisit record with the same fields and HTTP head."""
    head = link.block
    if link.is_delta:
        head = split_content(link, decode_chain(read_chain(shelf, link))).head
    else:
        head = head[: read_http_head(io.BytesIO(head), len(head))[1]]
    fields = [(name, value) for name, value in link.fields.fields if name not in _OF_BODY and name != "WARC-Target-URI"]
    lines = [
        ("WARC-Type", "revisit"),
        *fields,
        ("WARC-Target-URI", link.fields.url),
        ("WARC-Profile", _PROFILE),
        ("WARC-Payload-Digest", link.fields.payload_digest or ""),
        ("Rehi-Body", "dropped"),
        *block_fields(head, "application/http; msgtype=response"),
    ]
    return pack_record(field_lines(lines), head)
