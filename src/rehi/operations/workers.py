"""Workers: who works on the catalogue, in the words that people read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from rehi.app import House
from rehi.errors import SettingsError
from rehi.model.worker import Worker

SILENT = timedelta(seconds=60)  # without a sign of life, six times as long as one takes
WORKING = "working"
# What is claimed, by kind of work: for one, and for several. All other kinds are topics.
_CLAIMED = {
    "read": ("document to read", "documents to read"),
    "discover": ("source to read", "sources to read"),
    "follow": ("document to follow the links of", "documents to follow the links of"),
    "resource": ("document to describe", "documents to describe"),
    "entity": ("entity to describe", "entities to describe"),
}


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
    waiting_sources: int
    holds: str  # in words


def list_workers(house: House) -> list[WorkerRow]:
    """List the workers of the catalogue, the one seen last first."""
    now = house.catalogue.clock()
    return [_row(worker, now) for worker in house.catalogue.workers(now=now)]


def is_working(house: House, name: str) -> bool:
    """Whether a worker has given a sign of life of late, and has not stopped since."""
    now = house.catalogue.clock()
    return any(one.name == name and state_of(one, now) == WORKING for one in house.catalogue.workers(now=now))


def take_graph_over(house: House, *, force: bool = False) -> None:
    """Let this data folder's worker own the embedded graph, and have all of it written there with the next harvest.

    SettingsError if the owner lives and it is not forced.
    """
    if house.graph.shared:
        raise SettingsError("the graph is on a server that all workers share; nobody needs to own it")
    now, owner = house.catalogue.clock(), house.graph_owner
    for worker in house.catalogue.workers(now=now):
        if worker.name == owner and state_of(worker, now) == WORKING and not force:
            seconds = max(0, round((now - worker.seen_at).total_seconds()))
            raise SettingsError(
                f"the worker {owner} has the graph, and gave a sign of life {seconds} seconds ago: "
                "stop it first, or take it nevertheless with --force"
            )
    house.catalogue.own_graph(house.worker, uri=house.settings.graph_uri, now=now, take=True)
    describe_anew(house)


def describe_anew(house: House) -> None:
    """Have the whole graph written again from the catalogue, by whoever writes it, for all topics with subjects of their own."""
    from rehi.graph import ALL, load_topics

    for name, topic in load_topics().items():
        if topic.has_own:
            house.catalogue.put(name, (ALL,))


def state_of(worker: Worker, now: datetime) -> str:
    """Return how a worker fares, by its last sign of life."""
    if worker.ended_at is not None:
        return "stopped"
    return WORKING if now - worker.seen_at < SILENT else "silent"


def _row(worker: Worker, now: datetime) -> WorkerRow:
    return WorkerRow(
        name=worker.name,
        state=state_of(worker, now),
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
        waiting_sources=worker.waiting_sources,
        holds=describe_holdings(worker),
    )


def _place(uri: str) -> str:
    """Return where something lies, in a word if that is a path on the worker's own machine."""
    scheme, separator, rest = uri.partition("://")
    if separator and not rest.startswith("/"):
        return f"{scheme}://{rest.rpartition('@')[2]}"
    return "its own folder" if uri else ""


def describe_holdings(worker: Worker) -> str:
    """Return what a worker holds, in words: ``3 hosts, claimed 12 documents to read, the graph``."""
    parts = [_count(worker.hosts, "host", "hosts")] if worker.hosts else []
    parts += [
        f"claimed {_count(n, *_CLAIMED.get(kind, (f'to describe ({kind})',) * 2))}"
        for kind, n in sorted(worker.claims.items())
    ]
    if worker.waiting:
        parts.append(_count(worker.waiting, "document that waits", "documents that wait") + " to be read in its folder")
    if worker.waiting_sources:
        waiting = _count(worker.waiting_sources, "source that waits", "sources that wait")
        parts.append(f"{waiting} to be read on its machine")
    if worker.owns_graph:
        parts.append("the graph")
    return ", ".join(parts) or "nothing"


def _count(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"
