"""Workers: who works on the catalogue, in the words that people read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from rehi.app import House, utc_now
from rehi.errors import SettingsError
from rehi.model.worker import Worker

SILENT = timedelta(seconds=60)  # without a sign of life, six times as long as one takes


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """A worker as a list shows it."""

    name: str
    state: str  # "working", "stopped" or "silent"
    started_at: datetime
    seen_at: datetime
    machine: str
    process: int
    version: str
    archive: str  # the address, or that it is its own folder
    graph: str
    owns_graph: bool
    hosts: int
    claims: dict[str, int]
    waiting: int
    holds: str  # in words


def list_workers(house: House) -> list[WorkerRow]:
    """List the workers of the catalogue, the one seen last first."""
    now = house.catalogue.clock()
    return [_row(worker, now) for worker in house.catalogue.workers(now=now)]


def take_graph_over(house: House) -> None:
    """Let this data folder's worker own the embedded graph, and have all of it written there with the next harvest."""
    if house.graph.shared:
        raise SettingsError("the graph is on a server that all workers share; nobody needs to own it")
    house.catalogue.own_graph(house.worker, uri=house.settings.graph_uri, now=utc_now(), take=True)
    describe_anew(house)


def describe_anew(house: House) -> None:
    """Have the whole graph written again from the catalogue, by whoever writes it."""
    for kind in ("resource", "entity"):
        house.catalogue.put(kind)


def _row(worker: Worker, now: datetime) -> WorkerRow:
    stopped = worker.ended_at is not None
    state = "stopped" if stopped else ("working" if now - worker.seen_at < SILENT else "silent")
    return WorkerRow(
        name=worker.name,
        state=state,
        started_at=worker.started_at,
        seen_at=worker.seen_at,
        machine=worker.machine,
        process=worker.process,
        version=worker.version,
        archive=_place(worker.archive),
        graph=_place(worker.graph),
        owns_graph=worker.owns_graph,
        hosts=worker.hosts,
        claims=dict(worker.claims),
        waiting=worker.waiting,
        holds=_describe_holdings(worker),
    )


def _place(uri: str) -> str:
    """Return where something lies, in a word if that is a path on the worker's own machine."""
    scheme, separator, rest = uri.partition("://")
    if separator and not rest.startswith("/"):
        return f"{scheme}://{rest.rpartition('@')[2]}"
    return "its own folder" if uri else ""


def _describe_holdings(worker: Worker) -> str:
    """Return what a worker holds, in words: ``3 hosts, 12 to read, the graph``."""
    parts = [f"{worker.hosts:,} hosts"] if worker.hosts else []
    parts += [
        f"{n:,} claimed to {'read' if kind == 'read' else f'describe ({kind})'}"
        for kind, n in sorted(worker.claims.items())
    ]
    if worker.waiting:
        parts.append(f"{worker.waiting:,} documents that wait to be read in its folder")
    if worker.owns_graph:
        parts.append("the graph")
    return ", ".join(parts) or "nothing"
