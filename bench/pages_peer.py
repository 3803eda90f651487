"""The peer's server: Datasette as a careful engineer would run it. Run by the Python of Datasette's own environment.

    python -m bench.pages_peer FILE PORT

The file is immutable and its counts are known before, no facets are suggested, as many threads as there are cores ask SQLite
(more were no faster), and uvicorn has uvloop and httptools and writes no line for each request.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import uvicorn
from datasette.app import Datasette  # type: ignore[import-not-found,unused-ignore]

_SETTINGS = {"suggest_facets": False, "num_sql_threads": max(3, os.cpu_count() or 1), "cache_size_kb": 30_720}


def count_rows(file: Path) -> dict[str, dict[str, int]]:
    """Return the rows of each table, as ``datasette inspect`` finds them."""
    with closing(sqlite3.connect(file)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: {"count": database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]}  # noqa: S608
            for name in tables
        }


def main(file: str, port: str) -> None:
    """Serve until the end."""
    known = {
        Path(file).stem: {
            "hash": "0" * 64,
            "size": Path(file).stat().st_size,
            "file": file,
            "tables": count_rows(Path(file)),
        }
    }
    datasette = Datasette([], immutables=[file], inspect_data=known, settings=_SETTINGS)
    asyncio.run(datasette.invoke_startup())
    uvicorn.run(datasette.app(), host="127.0.0.1", port=int(port), access_log=False, log_level="warning", backlog=2048)


if __name__ == "__main__":
    main(*sys.argv[1:])
