"""An array: a column of many rows, as PostgreSQL reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_NUMBERS = frozenset(("bigint", "float8", "integer", "smallint"))


def arrays_of(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> tuple[Any, ...]:
    """Rows as one array for each column."""
    return tuple(array_of([row[name] for row in rows], kind) for name, kind in kinds.items())


def array_of(values: Iterable[Any], kind: str) -> Any:
    """Numbers are written here, for the driver looks at each one several times; it knows best how to write the rest."""
    if kind not in _NUMBERS:
        return list(values)
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"
