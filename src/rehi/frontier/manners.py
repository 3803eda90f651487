"""Manners: how one host is to be treated, by the settings and by an operator's orders."""

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
class Manners:
    """What holds for one host."""

    pace: Pace
    connections: int
    hours: Hours | None
    left_alone: str = ""  # by whom


def manners_of(
    origin: str, orders: HostOrders, *, settings: FetchSettings, time_zone: tzinfo, strain: float = 1.0
) -> Manners:
    """An operator's orders hold against the settings for the host, and these against the general ones."""
    special = settings.for_host(host_name(origin))
    set_delay = special.delay if special else None
    delay = next((given for given in (orders.delay, set_delay) if given is not None), settings.delay)
    reason = f"by order{f': {orders.why}' if orders.why else ''}" if orders.left_alone else ""
    return Manners(
        pace=Pace(own=delay, slow_factor=settings.slow_factor, longest=max(settings.max_delay, delay), strain=strain),
        connections=orders.connections or (special.connections if special else 1),
        hours=parse_hours(orders.hours or (special.hours if special else ""), time_zone),
        left_alone=reason or ("by the settings" if special and special.leave_alone else ""),
    )


def host_name(origin: str) -> str:
    """The name in an origin, without scheme and port."""
    authority = origin.partition("://")[2]
    name, colon, port = authority.rpartition(":")
    return name if colon and port.isdecimal() else authority


def zone_of(settings: Settings) -> tzinfo:
    """The time zone that is set."""
    try:
        return ZoneInfo(settings.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SettingsError(
            f"setting 'time_zone': {settings.time_zone!r} is not known; write one as in Europe/Tallinn or UTC"
        ) from error


def check_settings(settings: Settings) -> None:
    """SettingsError for hours, policies and schedules that can't be understood, before anything is visited."""
    time_zone = zone_of(settings)
    for special in settings.fetch.hosts:
        parse_hours(special.hours, time_zone)
    parse_policy(settings.revisit.policy)
    if settings.revisit.schedule:
        next_time(settings.revisit.schedule, after=datetime(2000, 1, 1, tzinfo=UTC), time_zone=time_zone)
