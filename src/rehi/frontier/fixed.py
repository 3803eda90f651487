"""Fixed times for visits, as cron expressions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from rehi.errors import SettingsError

_LONGEST = 100  # characters: no honest expression is longer
_WINDOW = 600.0  # seconds over which the pages of one job are spread, at most


@lru_cache(maxsize=256)
def check_cron(cron: str) -> None:
    """Refuse an expression that can't be read, or that no day fulfils."""
    next_time(cron, after=datetime(2026, 1, 1, tzinfo=UTC), time_zone=UTC)


def next_time(cron: str, *, after: datetime, time_zone: tzinfo) -> datetime:
    """Return the next moment that fulfils the expression; an hour that summer time skips or repeats counts once."""
    from cronsim import CronSim, CronSimError

    if len(cron) > _LONGEST:
        raise SettingsError(f"{cron[:40]!r}… is no cron expression: it is longer than {_LONGEST} characters")
    try:
        return next(CronSim(cron, after.astimezone(time_zone))).astimezone(UTC)
    except CronSimError as error:
        raise SettingsError(
            f"{cron!r} is no cron expression: {str(error).lower()}; "
            "write minute, hour, day, month and weekday, as in `0 1 1 * *` (monthly at 01:00)"
        ) from error
    except StopIteration as error:
        raise SettingsError(f"{cron!r} never comes: no day of the calendar fulfils it") from error


def plan_fixed(cron: str, *, at: datetime, share: float, time_zone: tzinfo) -> datetime:
    """Return when the job next visits a page: some minutes after its time, so that they don't all come at once."""
    # a page that is visited within the window of its own job must not be due again in that same window
    first = next_time(cron, after=at, time_zone=time_zone)
    second = next_time(cron, after=first, time_zone=time_zone)
    window = min(_WINDOW, (second - first).total_seconds() / 2)
    return first + timedelta(seconds=window * share)
