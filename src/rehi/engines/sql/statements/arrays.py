"""An array: a column of many rows, as PostgreSQL reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_NUMBERS = frozenset(("bigint", "float8", "integer", "smallint"))


def arrays_of(rows: Sequence[tuple[Any, ...]], kinds: Sequence[str]) -> tuple[Any, ...]:
    """Rows as one array for each column."""
    return tuple(map(array_of, zip(*rows, strict=True), kinds))


def array_of(values: Iterable[Any], kind: str) -> Any:
    """Numbers are written here, for the driver looks at each one several times; it knows best how to write the rest."""
    if kind not in _NUMBERS:
        return list(values)
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"
