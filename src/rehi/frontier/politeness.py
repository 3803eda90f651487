"""Politeness: how fast and when one host may be visited, by the settings and by an operator's orders."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rehi.errors import SettingsError
from rehi.frontier.hours import Hours, parse_hours
from rehi.frontier.pace import Pace
from rehi.frontier.schedule import next_time, parse_policy
from rehi.model.host import HostOrders
from rehi.settings import FetchSettings, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """The rules of politeness for one host."""

    pace: Pace
    connections: int
    hours: Hours | None
    left_alone: str = ""  # who wants it not to be visited; empty if it may be


def politeness_for(
    origin: str, orders: HostOrders, *, settings: FetchSettings, time_zone: tzinfo, strain: float = 1.0
) -> Politeness:
    """Return the rules for a host: an operator's orders go before the settings for the host, and these before the general ones."""
    special = settings.for_host(host_name(origin))
    set_delay = special.delay if special else None
    delay = next((delay for delay in (orders.delay, set_delay) if delay is not None), settings.delay)
    reason = f"by order{f': {orders.why}' if orders.why else ''}" if orders.left_alone else ""
    return Politeness(
        pace=Pace(own=delay, slow_factor=settings.slow_factor, longest=max(settings.max_delay, delay), strain=strain),
        connections=orders.connections or (special.connections if special else 1),
        hours=parse_hours(orders.hours or (special.hours if special else ""), time_zone),
        left_alone=reason or ("by the settings" if special and special.leave_alone else ""),
    )


def host_name(origin: str) -> str:
    """Return the host name of an origin, without scheme and port."""
    authority = origin.partition("://")[2]
    name, colon, port = authority.rpartition(":")
    return name if colon and port.isdecimal() else authority


def zone_of(settings: Settings) -> tzinfo:
    """Return the time zone of the settings; SettingsError if it is not known."""
    try:
        return ZoneInfo(settings.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SettingsError(
            f"setting 'time_zone': {settings.time_zone!r} is not known; write one as in Europe/Tallinn or UTC"
        ) from error


def check_settings(settings: Settings) -> None:
    """Raise SettingsError if hours, policies or schedules can't be understood, before anything is visited."""
    time_zone = zone_of(settings)
    for special in settings.fetch.hosts:
        parse_hours(special.hours, time_zone)
    parse_policy(settings.revisit.policy)
    if settings.revisit.schedule:
        next_time(settings.revisit.schedule, after=datetime(2000, 1, 1, tzinfo=UTC), time_zone=time_zone)
