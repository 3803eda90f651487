"""Databases for the engines' tests: a SQLite file each, and one PostgreSQL server for all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from rehi.testing.postgres import PostgresServer, find_postgres

_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if find_postgres() is None:
        reason = "there is no PostgreSQL server here"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with PostgresServer(_memory_folder()) as server:
        yield server


def _memory_folder() -> Path | None:
    """A schema took 0.3 s to make on disk, and all tests twice as long; a container may have too little memory for it."""
    folder = Path("/dev/shm")
    roomy = folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > 1_000_000_000
    return folder if roomy else None


@pytest.fixture(scope="session")
def postgres_uri(postgres: PostgresServer) -> str:
    return postgres.uri("tests")


@pytest.fixture(params=["sqlite", "postgres"])
def catalogue_uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty catalogue on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/catalogue.db"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.schema_uri(request.getfixturevalue("postgres_uri"), f"test_{next(_numbers)}")
