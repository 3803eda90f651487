"""The frontier: what is due, when, and for whom. Hosts are leased, not URLs."""

from rehi.frontier.agenda import Agenda, Errand, Purpose
from rehi.frontier.budget import adjust_price, allowance
from rehi.frontier.hours import parse_hours
from rehi.frontier.manners import Manners, check_settings, host_name, manners_of, zone_of
from rehi.frontier.schedule import (
    Plan,
    Sighting,
    next_time,
    parse_policy,
    plan_rare,
    plan_retry,
    plan_visit,
    wait_after_failures,
)

__all__ = [
    "Agenda",
    "Errand",
    "Manners",
    "Plan",
    "Purpose",
    "Sighting",
    "adjust_price",
    "allowance",
    "check_settings",
    "host_name",
    "manners_of",
    "next_time",
    "parse_hours",
    "parse_policy",
    "plan_rare",
    "plan_retry",
    "plan_visit",
    "wait_after_failures",
    "zone_of",
]
