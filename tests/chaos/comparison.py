"""The comparison of a house that something befell with an undisturbed one: the same, but for what is said to be lost."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rehi.testing.snapshot import Snapshot
from tests.chaos.household import LostBytes


def compare(disturbed: Snapshot, undisturbed: Snapshot, lost: Collection[LostBytes]) -> None:
    """Raise AssertionError for whatever is different; only lost versions may be missing, and what is stated of their pages.

    A lost version stays on record as one whose bytes are gone, unless the catalogue was made again after that. If its page still
    was the same, the next visit has brought its bytes again.
    """
    gone = {(url, digest) for url, _, digest in lost}
    assert _states(disturbed) == _states(undisturbed)
    assert disturbed.documents == undisturbed.documents
    assert disturbed.texts == undisturbed.texts
    assert disturbed.names == undisturbed.names
    assert disturbed.versions.keys() == undisturbed.versions.keys()
    for url, digests in undisturbed.versions.items():
        here = disturbed.versions[url]
        assert here[-1] == digests[-1], url
        assert _without(here, url, gone) == _without(digests, url, gone), url
        assert is_part(here, digests), url
    assert set(disturbed.statements.values()) <= {1}
    less = {url for url, _ in gone}
    assert _outside(disturbed, less) == _outside(undisturbed, less)


def _without(digests: Sequence[str], url: str, gone: Collection[tuple[str, str]]) -> list[str]:
    return [digest for digest in digests if (url, digest) not in gone]


def is_part(some: Sequence[str], every: Sequence[str]) -> bool:
    """Whether all of these are among the others, in the same order."""
    rest = iter(every)
    return all(one in rest for one in some)


def _outside(snapshot: Snapshot, urls: Collection[str]) -> set[str]:
    """Return all statements but those in the graphs of some URLs."""
    graphs = {f"/graph/resource/{url}>" for url in urls}
    return {line for line in snapshot.statements if not _ends_in(line.partition("\t")[0], graphs)}


def _ends_in(graph: str, endings: Collection[str]) -> bool:
    return "/graph/resource/" in graph and graph[graph.index("/graph/resource/") :] in endings


def _states(snapshot: Snapshot) -> dict[str, tuple[str, str]]:
    """Return what became of each URL; whether its last visit was the first to see it so depends on how often it was visited."""
    return {
        url: ("there" if state in ("new", "unchanged") else state, redirect)
        for url, (state, _, redirect) in snapshot.resources.items()
    }
