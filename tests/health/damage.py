"""Damage: what can happen to each part of a data folder."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from rehi.operations.health import HousePart

HOLE = 64


def make_hole(path: Path, offset: int, *, zeros: bool = False, seed: int = 0) -> None:
    """Overwrite 64 bytes of a file with zeros or with others."""
    raw = bytearray(path.read_bytes())
    raw[offset : offset + HOLE] = bytes(HOLE) if zeros else random.Random(seed).randbytes(HOLE)
    path.write_bytes(raw)


def largest(data: Path, pattern: str) -> Path:
    """The largest of some files."""
    return max(data.glob(pattern), key=lambda path: (path.stat().st_size, path.name))


def cut(path: Path) -> None:
    """End a file in its middle."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_archive(data: Path) -> None:
    cut(largest(data, "archive/*.warc.gz"))


def delete_archive(data: Path) -> None:
    largest(data, "archive/*.warc.gz").unlink()


def hole_in_archive(data: Path) -> None:
    path = largest(data, "archive/*.warc.gz")
    make_hole(path, path.stat().st_size // 2)


def delete_index(data: Path) -> None:
    min(data.glob("archive/*.cdxj")).unlink()


def flip_index(data: Path) -> None:
    """Another digit in a digest: still an index that can be read."""
    path = largest(data, "archive/*.cdxj")
    raw = path.read_bytes()
    at = raw.index(b"sha256:") + 10
    path.write_bytes(raw[:at] + (b"0" if raw[at : at + 1] != b"0" else b"1") + raw[at + 1 :])


def cut_derived(data: Path) -> None:
    cut(largest(data, "derived/*.warc.gz"))


def delete_derived(data: Path) -> None:
    largest(data, "derived/*.warc.gz").unlink()


def hole_in_derived(data: Path) -> None:
    path = largest(data, "derived/*.warc.gz")
    make_hole(path, path.stat().st_size // 2)


def delete_graph(data: Path) -> None:
    shutil.rmtree(data / "graph")


def hole_in_graph(data: Path) -> None:
    """In all tables, and in their hard links; those that are opened by their ends only."""
    for path in (data / "graph").rglob("*.sst"):
        if path.stat().st_size > 1_000:
            make_hole(path, 40)


def hole_in_catalogue(data: Path) -> None:
    path = data / "catalogue.db"
    make_hole(path, path.stat().st_size // 4096 // 2 * 4096)


WAYS: list[tuple[HousePart, Callable[[Path], None]]] = [
    (HousePart.ARCHIVE, cut_archive),
    (HousePart.ARCHIVE, delete_archive),
    (HousePart.INDEX, delete_index),
    (HousePart.INDEX, flip_index),
    (HousePart.DERIVED, cut_derived),
    (HousePart.DERIVED, delete_derived),
    (HousePart.DERIVED, hole_in_derived),
    (HousePart.GRAPH, delete_graph),
    (HousePart.GRAPH, hole_in_graph),
    (HousePart.CATALOGUE, hole_in_catalogue),
]
