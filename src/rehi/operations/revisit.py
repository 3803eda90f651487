"""Revisit policies: by which rule a source's pages are visited again, and how much they matter."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rehi.app import House
from rehi.errors import SettingsError
from rehi.frontier import parse_policy
from rehi.model.source import Source, SourceChange
from rehi.operations.parameters import SourceId, readable_by
from rehi.operations.source_rows import SourceRow, make_row

PRIORITIES = {"high": 4.0, "normal": 1.0, "low": 0.25}  # the weights that stand behind the words


Priority = Annotated[Literal["high", "normal", "low"], Field(description="How much its pages matter.")]


def check_policy(policy: str | None, priority: str | None = None) -> None:
    """Raise SettingsError if one of them can't be understood; an empty policy is that of the settings."""
    if policy and policy.strip():
        parse_policy(policy)
    if priority is not None and priority not in PRIORITIES:
        raise SettingsError(f"{priority!r} is no priority; there are {', '.join(PRIORITIES)}")


Policy = Annotated[
    str,
    Field(max_length=200, description='"adaptive", "fixed 0 1 1 * *", "odarchive", "latency 15m"; empty: the setting.'),
    readable_by(check_policy),
]


def set_policy(
    house: House, *, source_id: SourceId, policy: Policy | None = None, priority: Priority | None = None
) -> SourceRow:
    """Say when a source's pages are visited again, and how much they matter; what is left out stays as it is."""
    return make_row(house, order_policy(house, source_id, policy=policy, priority=priority))


def order_policy(house: House, source_id: int, *, policy: str | None = None, priority: str | None = None) -> Source:
    """Change a source's policy or priority, whichever is given; it holds from each page's next visit on."""
    check_policy(policy, priority)
    change = SourceChange(
        policy=None if policy is None else " ".join(policy.split()),
        weight=None if priority is None else PRIORITIES[priority],
    )
    return house.catalogue.change_source(source_id, change)


def priority_of(source: Source) -> str:
    """Return the word for a source's weight, or the number if there is none."""
    return next((name for name, weight in PRIORITIES.items() if weight == source.weight), f"{source.weight:g}")
