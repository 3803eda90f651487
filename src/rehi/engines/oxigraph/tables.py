"""The tables of a checkpoint, each read as a whole: RocksDB checks a block only when it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, Store

from rehi.engines.oxigraph.checkpoints import hold_newest, path_of

_FAULTS = (OSError, RuntimeError)

# What each index is asked for, by what a statement has. Together they read all of it, since every statement is in each.
_INDEXES: dict[str, Callable[[Quad], tuple[Any, Any, Any, Any]]] = {
    "by graph": lambda quad: (None, None, None, quad.graph_name),
    "by subject": lambda quad: (quad.subject, None, None, None),
    "by property": lambda quad: (None, quad.predicate, None, None),
    "by value": lambda quad: (None, None, quad.object, None),
    "by graph and property": lambda quad: (None, quad.predicate, None, quad.graph_name),
    "by graph and value": lambda quad: (None, None, quad.object, quad.graph_name),
}


def read_tables(checkpoints: Path) -> Iterator[str]:
    """Yield what is wrong with the tables of the newest checkpoint; nothing if there is none."""
    held = hold_newest(checkpoints)
    if held is None:
        return
    number, descriptor = held
    try:
        yield from _read(Store.read_only(str(path_of(checkpoints, number))))
    except _FAULTS as error:
        yield f"it can't be opened: {str(error)[:200]}"
    finally:
        os.close(descriptor)


def _read(store: Store) -> Iterator[str]:
    counts = {}
    for name, pattern in _INDEXES.items():
        try:
            counts[name] = sum(_count(store, one) for one in _distinct(map(pattern, store)))
        except _FAULTS as error:
            yield f"its table of statements {name} can't be read: {str(error)[:200]}"
    if len(set(counts.values())) > 1:
        yield f"its tables hold different numbers of statements: {counts}"


def _distinct(patterns: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield each pattern once, remembered by its hash: two that share it are a chance of one in 2**64 for each pair."""
    seen: set[int] = set()
    for pattern in patterns:
        if (mark := hash(pattern)) not in seen:
            seen.add(mark)
            yield pattern


def _count(store: Store, pattern: tuple[Any, ...]) -> int:
    """Count the statements of a pattern; each value is looked at.

    Asked on disk for a number whose last byte is 255, as 2303, Oxigraph 0.5.13 adds those of the next 256 numbers; its SPARQL does
    not. A name is stored as a digest of 16 bytes, so that it has no such neighbours.
    """
    value, statements = pattern[2], store.quads_for_pattern(*pattern)
    return sum(1 for _ in statements) if value is None else sum(quad.object == value for quad in statements)
