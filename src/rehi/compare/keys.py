"""Keys: the columns by which rows of two versions of a table are recognised as the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import cast

from rehi.compare.table import Row, Table
from rehi.errors import ComparisonError

_GLANCE = 2_000  # rows that are enough to rule out most columns
_FEW = 0.01  # of all rows may share their key with another, if the key was guessed
_STABLE = 0.2  # of the values of a column must be in both versions, unless its name says that it is a key
_PAIRED, _TRIPLED = 8, 6  # columns of which pairs and triples are tried
_KEY_NAME = re.compile(
    r"@?_?(?:id|ids|uuid|guid|key|code|symbol|ticker|isbn|issn|ean|doi|uri|url|iban|sku|number|no|nr|kood|regkood|"
    r"registrikood|tunnus|number|viit|date|kuup[äa]ev|day|timestamp)|.*[ _\-.](?:id|code|key|kood|nr|no|tunnus)",
    re.IGNORECASE,
)
_ENDS_IN_ID = re.compile(r"\w+(?:Id|ID|Code|Key)")
_NAME_NAME = re.compile(r".*(?:name|nimi|title|pealkiri|label)", re.IGNORECASE)
_FRACTION = re.compile(r"[-+]?\d+[.,]\d+")

Identity = Hashable  # the key's cells; with a counter for the second row that has the same ones and those after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The columns of a key by their names in the new table, and why these. Without columns, whole rows are compared."""

    columns: Row = ()
    why: str = ""


def identify(rows: Sequence[Row], places: Sequence[int]) -> list[Identity]:
    """Return the identity of each row, given the places of the key's cells; no two rows have the same."""
    keys = cells_at(rows, places)
    if len(set(keys)) == len(keys):
        return keys
    turns: Counter[Hashable] = Counter()
    identities: list[Identity] = []
    for key in keys:
        identities.append((key, turns[key]) if turns[key] else key)
        turns[key] += 1
    return identities


def cells_at(rows: Sequence[Row], places: Sequence[int]) -> list[Hashable]:
    """Return the cells of each row at these places: one cell by itself, several as a tuple."""
    return list(map(itemgetter(*places), rows)) if places else [()] * len(rows)


def check_key(column_names: Sequence[str], old: Table, new: Table, old_names: dict[str, str]) -> Key:
    """Return the key of the columns that a person named; ComparisonError if they are missing or are no key."""
    wanted = tuple(_match_column(name, new.columns) for name in column_names)
    if len(set(wanted)) < len(wanted):
        raise ComparisonError(f"the key {','.join(column_names)} names a column twice; name each once")
    for name in wanted:
        if name not in old_names:
            raise ComparisonError(
                f"the column {name!r} is in the newer version only; name one that both have as the key"
            )
    for table, names, age in ((old, [old_names[name] for name in wanted], "older"), (new, wanted, "newer")):
        cells = cells_at(table.rows, [table.columns.index(name) for name in names])
        if len(set(cells)) < len(cells):
            (twice, _), *_ = Counter(cells).most_common(1)
            repeated = twice if isinstance(twice, str) else ", ".join(map(str, cast("Row", twice)))
            raise ComparisonError(
                f"{','.join(wanted)} is no key: in the {age} version more than one row has "
                f"{repeated[:100]!r}; name further columns, as in --key {wanted[0]},…"
            )
    return Key(columns=wanted, why="given")


def _match_column(name: str, columns: Row) -> str:
    if name in columns:
        return name
    alike = [column for column in columns if column.casefold() == name.strip().casefold()]
    if len(alike) == 1:
        return alike[0]
    shown = ", ".join(columns[:20]) + (" …" if len(columns) > 20 else "")
    raise ComparisonError(f"there is no column {name[:100]!r}; the columns are {shown}"[:1000])


def guess_key(old: Table, new: Table, shared: Sequence[tuple[int, int]]) -> Key:
    """Return the best key among the columns that both have (places in old and new), the one with the fewest columns."""
    usable = [pair for pair in shared if _is_filled(old, pair[0]) and _is_filled(new, pair[1])]
    for width, most in ((1, len(usable)), (2, _PAIRED), (3, _TRIPLED)):
        tried = usable if width == 1 else _most_distinct(new, usable, most)
        scored = [(score, places) for places in combinations(tried, width) if (score := _score(old, new, places))]
        if scored:
            _, best = max(scored, key=lambda candidate: (candidate[0], [-place for _, place in candidate[1]]))
            return Key(columns=tuple(new.columns[place] for _, place in best), why=_why(old, new, best))
    return Key()


def _is_filled(table: Table, place: int) -> bool:
    cells = map(itemgetter(place), table.rows)
    return all(cells) and not any(cell.isspace() for cell in map(itemgetter(place), table.rows[:_GLANCE]))


def _most_distinct(table: Table, usable: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Return the columns with the most different values, in their order, without those that hold measurements."""
    sample = table.rows[:_GLANCE]
    worth = {
        pair: len({row[pair[1]] for row in sample})
        for pair in usable
        if not sum(_FRACTION.fullmatch(row[pair[1]].strip()) is not None for row in sample[:50]) * 2 > len(sample[:50])
    }
    best = sorted(worth, key=lambda pair: (-worth[pair], pair[1]))[:most]
    return sorted(best, key=lambda pair: pair[1])


def _score(old: Table, new: Table, places: Sequence[tuple[int, int]]) -> float:
    """Return how good a key these columns are; 0 if they are none."""
    firsts, seconds = [first for first, _ in places], [second for _, second in places]
    if _sample_repeats(old.rows, firsts) or _sample_repeats(new.rows, seconds):
        return 0.0
    before, after = set(cells_at(old.rows, firsts)), set(cells_at(new.rows, seconds))
    rows_in_all = len(old.rows) + len(new.rows)
    repeats = rows_in_all - len(before) - len(after)
    if repeats > rows_in_all * _FEW:
        return 0.0
    fewest = min(len(before), len(after))
    stays = len(before & after) / fewest if fewest else 1.0
    names = [new.columns[place] for place in seconds]
    named = sum(_is_key_name(name) for name in names) / len(names)
    cells = [row[at] for row in new.rows[:50] for at in seconds]
    measured = sum(_FRACTION.fullmatch(cell.strip()) is not None for cell in cells) * 2 > len(cells)
    if (stays < _STABLE or measured) and not named:
        return 0.0
    long = sum(map(len, cells)) > 100 * len(cells)
    return (
        10.0
        + 3 * stays
        + 3 * named
        + any(_NAME_NAME.fullmatch(name) for name in names)
        + 1 - min(seconds) / max(1, len(new.columns))
        - 3 * measured
        - long
        - 2 * bool(repeats)
    )  # fmt: skip


def _sample_repeats(rows: Sequence[Row], places: Sequence[int]) -> bool:
    """Whether a sample of the rows, the first ones or those at even distances, shows already that this is no key."""
    for sample in (rows[:_GLANCE], rows[:: len(rows) // _GLANCE + 1]):
        if len(sample) - len(set(cells_at(sample, places))) > max(1, len(sample) * _FEW):
            return True
    return False


def _is_key_name(name: str) -> bool:
    return _KEY_NAME.fullmatch(name) is not None or _ENDS_IN_ID.fullmatch(name) is not None


def _why(old: Table, new: Table, places: Sequence[tuple[int, int]]) -> str:
    before, after = cells_at(old.rows, [at for at, _ in places]), cells_at(new.rows, [at for _, at in places])
    repeats = len(before) + len(after) - len(set(before)) - len(set(after))
    if repeats:
        return f"guessed: tells all rows apart but {repeats:,}, which are matched in their order"
    return "guessed: filled in, and different in every row of both versions"
