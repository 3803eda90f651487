"""The schedule: when a resource is due again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from rehi.frontier.adaptive import plan_adaptive
from rehi.frontier.fixed import next_time, plan_fixed
from rehi.frontier.latency import plan_latency
from rehi.frontier.odarchive import plan_odarchive
from rehi.frontier.policy import Policy, parse_policy, share_of, spread
from rehi.settings import FetchSettings, RevisitSettings

_MOST_DOUBLINGS = 16  # an hour becomes seven years: every wait has met its bound before
_CHEAPEST, _DEAREST = 1e-6, 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What a successful visit tells the schedule: when it was, whether the page had changed, and what was promised."""

    url: str
    at: datetime
    changed: bool | None  # None: the first version, so nothing is known
    last_modified: datetime | None = None  # as the server tells; it may lie
    promised: float = 0.0  # seconds between changes as the source says; 0 if it doesn't


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When to come back, and what to remember until then."""

    next_at: datetime
    history: bytes
    host_history: bytes


def plan_visit(
    sighting: Sighting,
    *,
    policy: str,
    history: bytes,
    host_history: bytes,
    weight: float,
    price: float,
    settings: RevisitSettings,
    time_zone: tzinfo,
) -> Plan:
    """Return when to come back after a visit; ``weight`` is the source's priority, ``price`` what a visit costs (1: nothing).

    The histories are what the last plan gave back; any other bytes count as none.
    """
    rule, share = parse_policy(policy), share_of(sighting.url)
    at, changed = sighting.at.timestamp(), sighting.changed
    cost = min(max(price / weight, _CHEAPEST), _DEAREST) if weight > 0 else _DEAREST
    shortest, longest = settings.shortest, max(settings.longest, settings.shortest)
    if rule.name == "fixed":
        next_at = plan_fixed(rule.cron, at=sighting.at, share=share, time_zone=time_zone)
        return Plan(next_at=next_at, history=history, host_history=host_history)
    if rule.name == "adaptive":
        wait, history, host_history = plan_adaptive(
            at=at, changed=changed, last_modified=sighting.last_modified, promised=sighting.promised, history=history,
            host_history=host_history, price=cost, taste=settings.taste, shortest=shortest, longest=longest,
            share=share,
        )  # fmt: skip
    elif rule.name == "odarchive":
        wait, history = plan_odarchive(
            at=at, changed=changed, history=history, price=cost, shortest=shortest, longest=longest, share=share
        )
    else:
        wait, history = plan_latency(
            at=at, changed=changed, setpoint=rule.latency, history=history, price=cost, shortest=shortest,
            longest=longest, share=share,
        )  # fmt: skip
    return Plan(next_at=sighting.at + timedelta(seconds=wait), history=history, host_history=host_history)


def plan_soonest(
    sighting: Sighting,
    *,
    policies: Sequence[str] = (),
    history: bytes = b"",
    host_history: bytes = b"",
    weight: float = 1.0,
    price: float,
    settings: RevisitSettings,
    time_zone: tzinfo,
) -> Plan:
    """Return when to come back to what several sources have named: as soon as the keenest of their policies asks for.

    Where there is none, or an empty one, that of the settings holds.
    """
    plans = [
        plan_visit(
            sighting, policy=policy, history=history, host_history=host_history, weight=weight, price=price,
            settings=settings, time_zone=time_zone,
        )
        for policy in dict.fromkeys(policy or settings.policy for policy in policies or ("",))
    ]  # fmt: skip
    return min(plans, key=lambda plan: plan.next_at)


def wait_after_failures(failures: int, *, fetch: FetchSettings, revisit: RevisitSettings) -> timedelta:
    """Return how long to wait after that many failures in a row: doubled each time, never beyond the longest revisit."""
    seconds = fetch.retry_after * 2 ** min(max(failures, 0), _MOST_DOUBLINGS)
    return timedelta(seconds=min(seconds, revisit.longest))


def plan_retry(url: str, *, failures: int, now: datetime, fetch: FetchSettings, revisit: RevisitSettings) -> datetime:
    """Return when to try again after a failure: soon, and ever later."""
    wait = wait_after_failures(failures, fetch=fetch, revisit=revisit).total_seconds()
    return now + timedelta(seconds=spread(wait, share=share_of(url), shortest=0.0, longest=revisit.longest))


def plan_rare(url: str, *, now: datetime, revisit: RevisitSettings) -> datetime:
    """Return when to look again at what is forbidden, gone or moved for good: as rarely as at anything."""
    wait = spread(revisit.longest, share=share_of(url), shortest=0.0, longest=revisit.longest)
    return now + timedelta(seconds=wait)


__all__ = [
    "Plan", "Policy", "Sighting", "next_time", "parse_policy", "plan_rare", "plan_retry", "plan_soonest",
    "plan_visit",
    "wait_after_failures",
]  # fmt: skip
