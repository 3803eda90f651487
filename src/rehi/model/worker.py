"""A worker: a process with a data folder of its own that works on a catalogue, perhaps with others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """What a worker says of itself, and what it holds."""

    name: str
    machine: str = ""
    process: int = 0
    version: str = ""  # of rehi
    address: str = ""  # of its pages, if it serves any
    archive: str = ""  # where its files go
    graph: str = ""  # the graph that it writes to or reads
    started_at: datetime
    seen_at: datetime  # its last sign of life
    ended_at: datetime | None = None  # when it stopped cleanly
    owns_graph: bool = False
    hosts: int = 0  # that it has leased
    claims: Mapping[str, int] = field(default_factory=dict)  # by kind of work
    waiting: int = (
        0  # documents that only it can read, since their bytes lie in its folder, and that nobody has claimed
    )
    waiting_sources: int = 0  # the same of sources, whose files lie on its machine
