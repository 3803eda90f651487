"""Ways to compare two bodies: as text, table or tree, as lines where that is too much, else by their digests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from rehi.compare import (
    LineKind,
    NoTree,
    NumberedRow,
    PathKind,
    Prefixes,
    RowChange,
    TableTooLarge,
    TooDeep,
    both_headers,
    compare_tables,
    compare_texts,
    compare_trees,
    lay_out,
    parse_json,
    parse_xml,
    show_path,
    show_xpath,
    split_lines,
    to_table,
)
from rehi.errors import ComparisonError, ReadError
from rehi.operations.diff.body import LARGEST, LARGEST_TABLE, LARGEST_TREE, DiffKind, ParsedBody
from rehi.operations.diff.result import DiffCounts, Differences

LONGEST_CELL = 5_000  # characters that are shown
_MOST_CHARACTERS = 4_000_000  # of all that is shown of one kind

T = TypeVar("T")


def kind_of_both(old: ParsedBody, new: ParsedBody) -> DiffKind:
    """Return how two bodies are compared: by the kind of both, as text if the kinds differ, as bytes if one has no text."""
    if old.kind is new.kind:
        return old.kind
    return DiffKind.BYTES if DiffKind.BYTES in (old.kind, new.kind) else DiffKind.TEXT


def has_difference(differences: Differences) -> bool:
    """Whether anything differs; the order of rows and columns counts."""
    if differences.table is not None:
        schema = differences.table.schema
        if schema.added or schema.removed or schema.renamed or schema.reordered or differences.table.moved:
            return True
    return (
        bool(differences.tree and differences.tree.changes)
        or differences.tally is None
        or differences.tally.different > 0
    )


def compare_bodies(
    old: ParsedBody, new: ParsedBody, *, key: tuple[str, ...], tables_only: bool, most: int
) -> Differences:
    """Compare two bodies. A key or ``tables_only`` makes anything but a table a ComparisonError."""
    kind = kind_of_both(old, new)
    if kind is not DiffKind.TABLE and (key or tables_only):
        raise ComparisonError(f"a key and blame are for tables, and this is compared as {kind}; leave them out")
    largest = max(old.version.size, new.version.size)
    try:
        match kind:
            case DiffKind.TABLE if largest <= LARGEST_TABLE:
                return _tables(old, new, key, most)
            case DiffKind.JSON | DiffKind.XML if largest <= LARGEST_TREE:
                return _trees(kind, old, new, most)
            case DiffKind.TEXT:
                return _texts(old, new, most)
            case DiffKind.BYTES:
                return _bytes(largest)
        why = "too large to be compared piece by piece"
    except TableTooLarge:
        why = "too large to be compared cell by cell"
    except TooDeep:
        why = "nested too deeply to be compared by path"
    except ReadError as error:
        return Differences(DiffKind.BYTES, notes=[f"The text can't be read: {error}."])
    except NoTree as error:
        why = f"no {kind.upper()} that can be read ({str(error)[:200]})"
    if key or tables_only:
        raise ComparisonError(f"this is {why}, so there are no keys and no blame; leave them out")
    differences = _texts(old, new, most)
    differences.notes.append(f"It is {why}, so the lines of the files are compared.")
    return differences


def _bytes(largest: int) -> Differences:
    notes = [f"Bodies of more than {LARGEST:,} bytes are told apart by size and digest only."]
    return Differences(DiffKind.BYTES, notes=notes if largest > LARGEST else [])


def _texts(old: ParsedBody, new: ParsedBody, most: int) -> Differences:
    first, second = split_lines(old.text), split_lines(new.text)
    diff = compare_texts(first, second)
    differences = Differences(DiffKind.TEXT)
    differences.lines = first_few(
        lay_out(first, diff), most, differences, lambda line: sum(len(p.text) for p in line.pieces)
    )
    changed = sum(line.kind is LineKind.CHANGED for line in differences.lines)
    differences.tally = DiffCounts(
        unit="lines", added=diff.added - changed, removed=diff.removed - changed, changed=changed, same=diff.same
    )
    if diff.coarse:
        differences.notes.append("The texts are so different that more lines may be the same than are shown as such.")
    if old.is_cut or new.is_cut:
        differences.notes.append(f"Only the first {old.max_text:,} characters of the texts are compared.")
    return differences


def _tables(old: ParsedBody, new: ParsedBody, key: tuple[str, ...], most: int) -> Differences:
    before, after = old.rows(), new.rows()
    headers = both_headers(before, after)
    diff = compare_tables(to_table(before, header=headers[0]), to_table(after, header=headers[1]), key=key)
    differences = Differences(DiffKind.TABLE)
    differences.tally = DiffCounts(
        unit="rows", added=len(diff.added), removed=len(diff.removed), changed=len(diff.changed), same=diff.same
    )
    differences.table = replace(
        diff,
        added=first_few(map(_cut_row, diff.added), most, differences, _row_size),
        removed=first_few(map(_cut_row, diff.removed), most, differences, _row_size),
        changed=first_few(map(_cut_change, diff.changed), most, differences, _change_size),
    )
    if not all(headers):
        differences.notes.append("There is no header, so the columns are counted.")
    if diff.coarse:
        differences.notes.append(
            "There is no key, and so many rows differ that those that only changed are not looked for."
        )
    return differences


def _trees(kind: DiffKind, old: ParsedBody, new: ParsedBody, most: int) -> Differences:
    if kind is DiffKind.JSON:
        diff = compare_trees(parse_json(old.decoded), parse_json(new.decoded), show=show_path, most=most + 1)
    else:
        prefixes = Prefixes()
        before, after = parse_xml(old.decoded, prefixes), parse_xml(new.decoded, prefixes)
        diff = compare_trees(before, after, show=show_xpath, hide_single=True, most=most + 1)
    differences = Differences(kind)
    differences.tally = DiffCounts(
        unit="values",
        added=diff.counts.get(PathKind.ADDED, 0),
        removed=diff.counts.get(PathKind.REMOVED, 0),
        changed=diff.counts.get(PathKind.CHANGED, 0),
        same=diff.same,
    )
    changes = first_few(
        diff.changes, most, differences, lambda one: len(one.path) + len(one.old or "") + len(one.new or "")
    )
    differences.tree = replace(diff, changes=changes, keys=diff.keys[:most])
    if diff.coarse:
        differences.notes.append(
            "Some lists are so different that more of their items may be the same than were found."
        )
    return differences


def first_few(items: Iterable[T], most: int, differences: Differences, size: Callable[[T], int]) -> tuple[T, ...]:
    """Return as many as may be shown, and note it if there are more."""
    taken: list[T] = []
    left = _MOST_CHARACTERS
    for item in items:
        if len(taken) >= most or left <= 0:
            differences.complete = False
            break
        taken.append(item)
        left -= size(item)
    return tuple(taken)


def _row_size(row: NumberedRow) -> int:
    return sum(map(len, row.cells))


def _change_size(change: RowChange) -> int:
    return sum(len(cell.old) + len(cell.new) for cell in change.cells)


def _cut_row(row: NumberedRow) -> NumberedRow:
    return replace(row, cells=tuple(map(cut, row.cells)))


def _cut_change(change: RowChange) -> RowChange:
    cells = tuple(replace(cell, old=cut(cell.old), new=cut(cell.new)) for cell in change.cells)
    return replace(change, label=tuple(map(cut, change.label)), cells=cells)


def cut(cell: str) -> str:
    """Return a cell, cut if it is too long to be shown."""
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…"
