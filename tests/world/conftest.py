"""The practice web, as its tests share it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rehi.testing.world import World, WorldServer


@pytest.fixture(scope="session")
def world() -> World:
    """A whole practice web whose clock stands still."""
    return World()


@pytest.fixture(scope="session")
def served() -> Iterator[WorldServer]:
    """A small practice web that answers, its clock standing still."""
    with WorldServer(World(small=True)) as server:
        yield server
