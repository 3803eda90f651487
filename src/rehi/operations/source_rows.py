"""Rows of sources: how far each is, and what it waits for, in words and for programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum

from rehi.app import House
from rehi.model.source import Source, SourceState
from rehi.operations.workers import is_working


class Awaits(StrEnum):
    """What a source waits for."""

    NOTHING = ""
    START = "start"  # somebody has to start it
    VISIT = "visit"  # of the URL that ``awaits_url`` names
    WORKER = "worker"  # on whose machine its file lies, and who does not work now


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow(Source):
    """A source as a list shows it, with what it waits for."""

    awaits: Awaits = Awaits.NOTHING
    awaits_url: str = ""  # must be visited before it goes on
    awaits_worker: str = ""  # must work again before it goes on


def list_rows(house: House, sources: Iterable[Source]) -> list[SourceRow]:
    """Return sources as a list shows them, in their order."""
    return [make_row(house, source) for source in sources]


def make_row(house: House, source: Source) -> SourceRow:
    """Return a source as a list shows it, without the folder of its file."""
    shown = source.without_path()
    known = {one.name: getattr(shown, one.name) for one in fields(Source) if one.name != "awaits"}
    url, worker = awaited_url(source), ""
    if not url and (owner := source.waits_for(house.worker)) and not is_working(house, owner):
        worker = owner
    is_waiting = source.state is SourceState.WAITING
    awaits = Awaits.VISIT if url else Awaits.WORKER if worker else Awaits.START if is_waiting else Awaits.NOTHING
    return SourceRow(**known, awaits=awaits, awaits_url=url, awaits_worker=worker)


def awaited_url(source: Source) -> str:
    """Return the URL that must be visited before a source goes on: one that it asked for, or where it lies."""
    is_unvisited = source.state is SourceState.READING and not source.is_local and not source.cursor
    return source.awaits or (source.location if is_unvisited else "")


def state_in_words(house: House, source: Source) -> str:
    """Return how far a source is, or what it waits for: a visit, or the worker on whose machine it lies."""
    if url := awaited_url(source):
        return f"waits for {url}"
    owner = source.waits_for(house.worker)
    if not owner:
        return source.state.value
    return f"read by the worker {owner}" if is_working(house, owner) else f"waits for the worker {owner}"
