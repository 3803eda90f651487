"""Compaction: files are written anew without the bodies that were dropped, while everybody reads on.

What is replaced is only ever removed after all that replaces it is on disk. First the new files are put beside the old
ones, then one file of moves says where each record is now, and that is the moment at which it happens; then the old
files go. Whatever breaks off before that moment has changed nothing, and what is left to remove after it is removed by
the next compaction.

A version that stands on a dropped one is written anew so that it stands on the nearest version that stays, or on
nothing. What it unfolds to is the same as before, so those that stand on it need not be touched.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rehi.archive.body import read_fields_of
from rehi.archive.chain import Link, read_chain, read_link, split_content, unfold
from rehi.archive.delta import encode
from rehi.archive.http_head import read_http_head
from rehi.archive.member import CHUNK
from rehi.archive.moves import FollowingShelf, write_moves
from rehi.archive.record import DELTA, block_fields, field_lines, pack_record
from rehi.archive.seal import index_name, seal_file
from rehi.archive.walk import SUFFIX, Bad, Walk
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
    """What is to be done to one file: places of bodies that go, and of deltas that must stand on something else."""

    file: str
    size: int
    dropped: frozenset[int]
    rebased: frozenset[int]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done to all files."""

    files: tuple[FilePlan, ...]
    condemned: frozenset[RecordRef]  # bodies that are to go, now or later
    waiting: int  # of those that stay for now, since something stands on them
    unsealed: int  # dropped bodies in files that are still written to


@dataclass(slots=True)
class Compacted:
    """What a compaction came to."""

    files: int = 0
    bodies: int = 0  # that are gone
    rebased: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    waiting: int = 0  # bodies that stay for now, since something stands on them
    unsealed: int = 0  # bodies that stay, since their file is still written to


def new_name(file: str) -> str:
    """What a file is called after it was compacted; never a name that a worker would go on with."""
    match = _COMPACTED.fullmatch(file)
    if match is None:
        raise RecordDamaged(f"{file} is no file of the archive")
    return f"{match[1]}-c{int(match[2] or 0) + 1}{SUFFIX}"


def plan_compaction(shelf: FollowingShelf, dropped: Iterable[RecordRef], *, at_once: bool, only_of: str = "") -> Plan:
    """What is to be done that these bodies may go, as far as they lie in files that are sealed.

    Of a place that workers share, each writes only its own files anew, so that no two write the same.

    It goes through all files, to see what stands on what. Unless it is done ``at_once``, with nobody writing, a body goes
    only if nothing stood on it before this compaction: somebody may be writing a delta on it at this moment.
    """
    clean_up(shelf)
    names = {name for name, _ in shelf.files()}
    sizes = {file: size for file, size in shelf.files() if file.endswith(SUFFIX)}
    own = re.compile(rf".*-{re.escape(only_of)}(-import)?-[0-9]+(-c[0-9]+)?\.warc\.gz" if only_of else ".*")
    sealed = {file for file in sizes if index_name(file) in names and own.fullmatch(file)}
    places = [place for ref in dropped if (place := shelf.find(ref) or ref).file in sizes]
    condemned = frozenset(place for place in places if place.file in sealed and _is_body(shelf, place))
    standing = dict(_standing_on(shelf, sizes, condemned))
    rebased = {child for child in standing if child not in condemned and child.file in sealed}
    needed: set[RecordRef] = set()
    for child in standing.keys() - condemned:
        base = standing[child] if child not in rebased or not at_once else None
        while base is not None:  # what is needed still stands on what it stood on
            needed.add(base)
            base = standing.get(base)
    changes: dict[str, tuple[set[int], set[int]]] = {}
    for place in condemned - needed:
        changes.setdefault(place.file, (set(), set()))[0].add(place.offset)
    for place in rebased:
        changes.setdefault(place.file, (set(), set()))[1].add(place.offset)
    files = [FilePlan(file, sizes[file], *map(frozenset, changes[file])) for file in sorted(changes)]
    return Plan(tuple(files), condemned, len(needed), sum(place.file not in sealed for place in places))


def _is_body(shelf: FollowingShelf, place: RecordRef) -> bool:
    """Whether there is something that can go; there is nothing where a compaction has been before."""
    return read_fields_of(shelf, place).kind in ("response", DELTA)


def _standing_on(
    shelf: FollowingShelf, sizes: Mapping[str, int], gone: frozenset[RecordRef]
) -> Iterator[tuple[RecordRef, RecordRef]]:
    """Deltas that stand on one of these, each with that one."""
    for file, size in sizes.items() if gone else ():
        if shelf.is_moved(file):
            continue
        for item in Walk(shelf, file, size, unfold=False).through():
            if isinstance(item, Bad) or item.fields.kind != DELTA or (said := item.fields.base) is None:
                continue
            base = shelf.find(said) or said
            if base in gone:
                yield item.ref, base


def compact(
    shelf: FollowingShelf,
    plan: Plan,
    *,
    worker: str,
    now: datetime,
    spool: Path | None = None,
    on_file: Callable[[str], None] = lambda _: None,
) -> Compacted:
    """Write the files of a plan anew. If one of them is damaged, nothing happens: RecordDamaged says where."""
    result = Compacted(waiting=plan.waiting, unsealed=plan.unsealed)
    moves: dict[str, list[tuple[RecordRef, RecordRef]]] = {}
    for part in plan.files:
        on_file(part.file)
        rewriting = _Rewriting(shelf, part, plan.condemned)
        shelf.put(new_name(part.file), rewriting.chunks())
        moves[part.file] = rewriting.moves
        seal_file(shelf, new_name(part.file), rewriting.end, spool=spool)
        result.bytes_before += part.size
        result.bytes_after += rewriting.end
        result.files, result.bodies = result.files + 1, result.bodies + len(part.dropped)
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


class _Rewriting:
    """One file on its way into a new one."""

    def __init__(self, shelf: FollowingShelf, plan: FilePlan, condemned: frozenset[RecordRef]) -> None:
        self._shelf, self._plan, self._condemned = shelf, plan, condemned
        self._file = new_name(plan.file)
        self.moves: list[tuple[RecordRef, RecordRef]] = []
        self.end = 0

    def chunks(self) -> Iterator[bytes]:
        """The bytes of the new file; RecordDamaged if the old one is not whole."""
        plan = self._plan
        for item in Walk(self._shelf, plan.file, plan.size, unfold=False).through():
            if isinstance(item, Bad):
                raise RecordDamaged(f"{plan.file}:{item.ref.offset}: {item.why}; nothing was compacted")
            start = self.end
            if item.ref.offset in plan.dropped:
                yield self._counted(_without_body(read_link(self._shelf, item.ref), self._shelf))
            elif item.ref.offset in plan.rebased:
                yield self._counted(self._rebase(read_link(self._shelf, item.ref)))
            else:
                with self._shelf.open(item.ref) as stream:
                    while chunk := stream.read(CHUNK):
                        yield self._counted(chunk)
            self.moves.append((item.ref, RecordRef(self._file, start, self.end - start)))

    def _counted(self, chunk: bytes) -> bytes:
        self.end += len(chunk)
        return chunk

    def _rebase(self, link: Link) -> bytes:
        """The same version on the nearest one that stays, or on nothing."""
        chain = read_chain(self._shelf, link)
        content = unfold(chain)
        rest = [part for part in chain[1:] if not self._goes(part.ref)]
        fields = [
            field for field in link.fields.fields if field[0] not in ("Rehi-Base", "Rehi-Base-Digest", "Content-Length")
        ]
        base = b""
        if rest:
            base = unfold(chain[chain.index(rest[0]) :])
            place = rest[0].ref
            fields.append(("Rehi-Base", f"{place.file} {place.offset} {place.length}"))
            fields.append(("Rehi-Base-Digest", rest[0].fields.payload_digest or ""))
        packed = encode(content, base=base)
        return pack_record(field_lines([*fields, ("Content-Length", str(len(packed)))]), packed, stored=True)

    def _goes(self, ref: RecordRef) -> bool:
        return (self._shelf.find(ref) or ref) in self._condemned


def _without_body(link: Link, shelf: FollowingShelf) -> bytes:
    """What stays of a record when its body goes: a revisit of bytes that nobody has, with all that was said of them."""
    head = link.block
    if link.is_delta:
        head = split_content(link, unfold(read_chain(shelf, link))).head
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
