"""Contrasts: two contents compared as what both are; as lines where that is too much, by their bytes where there are none."""

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
from rehi.desk.comparison import Found, Tally
from rehi.desk.content import LARGEST, LARGEST_TABLE, LARGEST_TREE, Content, Family
from rehi.errors import ComparisonError, ReadError

LONGEST_CELL = 5_000  # characters that are shown
_MOST_CHARACTERS = 4_000_000  # of all that is shown of one kind

T = TypeVar("T")


def kind_of_both(old: Content, new: Content) -> Family:
    """The family of both; what is of two families is compared as text, unless one has none."""
    if old.family is new.family:
        return old.family
    return Family.BYTES if Family.BYTES in (old.family, new.family) else Family.TEXT


def has_difference(found: Found) -> bool:
    """Whether anything was found; the order of rows and columns counts."""
    if found.table is not None:
        schema = found.table.schema
        if schema.added or schema.removed or schema.renamed or schema.reordered or found.table.moved:
            return True
    return bool(found.tree and found.tree.changes) or found.tally is None or found.tally.different > 0


def contrast(old: Content, new: Content, *, key: tuple[str, ...], tables_only: bool, most: int) -> Found:
    """Compare; ``tables_only`` is for what makes sense for tables alone, as a key does."""
    kind = kind_of_both(old, new)
    if kind is not Family.TABLE and (key or tables_only):
        raise ComparisonError(f"a key and blame are for tables, and this is compared as {kind}; leave them out")
    largest = max(old.version.size, new.version.size)
    try:
        match kind:
            case Family.TABLE if largest <= LARGEST_TABLE:
                return _tables(old, new, key, most)
            case Family.JSON | Family.XML if largest <= LARGEST_TREE:
                return _trees(kind, old, new, most)
            case Family.TEXT:
                return _texts(old, new, most)
            case Family.BYTES:
                return _bytes(largest)
        why = "too large to be compared piece by piece"
    except TableTooLarge:
        why = "too large to be compared cell by cell"
    except TooDeep:
        why = "nested too deeply to be compared by path"
    except ReadError as error:
        return Found(Family.BYTES, notes=[f"The text can't be read: {error}."])
    except NoTree as error:
        why = f"no {kind.upper()} that can be read ({str(error)[:200]})"
    if key or tables_only:
        raise ComparisonError(f"this is {why}, so there are no keys and no blame; leave them out")
    found = _texts(old, new, most)
    found.notes.append(f"It is {why}, so the lines of the files are compared.")
    return found


def _bytes(largest: int) -> Found:
    said = [f"Bodies of more than {LARGEST:,} bytes are told apart by size and digest only."]
    return Found(Family.BYTES, notes=said if largest > LARGEST else [])


def _texts(old: Content, new: Content, most: int) -> Found:
    first, second = split_lines(old.text), split_lines(new.text)
    diff = compare_texts(first, second)
    found = Found(Family.TEXT)
    found.lines = first_few(lay_out(first, diff), most, found, lambda line: sum(len(p.text) for p in line.pieces))
    changed = sum(line.kind is LineKind.CHANGED for line in found.lines)
    found.tally = Tally(
        unit="lines", added=diff.added - changed, removed=diff.removed - changed, changed=changed, same=diff.same
    )
    if diff.coarse:
        found.notes.append("The texts are so different that more lines may be the same than are shown as such.")
    if old.is_cut or new.is_cut:
        found.notes.append(f"Only the first {old.max_text:,} characters of the texts are compared.")
    return found


def _tables(old: Content, new: Content, key: tuple[str, ...], most: int) -> Found:
    before, after = old.rows(), new.rows()
    headers = both_headers(before, after)
    diff = compare_tables(to_table(before, header=headers[0]), to_table(after, header=headers[1]), key=key)
    found = Found(Family.TABLE)
    found.tally = Tally(
        unit="rows", added=len(diff.added), removed=len(diff.removed), changed=len(diff.changed), same=diff.same
    )
    found.table = replace(
        diff,
        added=first_few(map(_cut_row, diff.added), most, found, _row_size),
        removed=first_few(map(_cut_row, diff.removed), most, found, _row_size),
        changed=first_few(map(_cut_change, diff.changed), most, found, _change_size),
    )
    if not all(headers):
        found.notes.append("There is no header, so the columns are counted.")
    if diff.coarse:
        found.notes.append("There is no key, and so many rows differ that those that only changed are not looked for.")
    return found


def _trees(kind: Family, old: Content, new: Content, most: int) -> Found:
    if kind is Family.JSON:
        diff = compare_trees(parse_json(old.decoded), parse_json(new.decoded), show=show_path, most=most + 1)
    else:
        prefixes = Prefixes()
        before, after = parse_xml(old.decoded, prefixes), parse_xml(new.decoded, prefixes)
        diff = compare_trees(before, after, show=show_xpath, hide_single=True, most=most + 1)
    found = Found(kind)
    found.tally = Tally(
        unit="values",
        added=diff.counts.get(PathKind.ADDED, 0),
        removed=diff.counts.get(PathKind.REMOVED, 0),
        changed=diff.counts.get(PathKind.CHANGED, 0),
        same=diff.same,
    )
    changes = first_few(diff.changes, most, found, lambda one: len(one.path) + len(one.old or "") + len(one.new or ""))
    found.tree = replace(diff, changes=changes, keys=diff.keys[:most])
    if diff.coarse:
        found.notes.append("Some lists are so different that more of their items may be the same than were found.")
    return found


def first_few(items: Iterable[T], most: int, found: Found, size: Callable[[T], int]) -> tuple[T, ...]:
    """As many as may be shown; that there are more is noted."""
    taken: list[T] = []
    left = _MOST_CHARACTERS
    for item in items:
        if len(taken) >= most or left <= 0:
            found.complete = False
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
    """A cell that is not too long to be shown."""
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…"
