"""The frontier: which URLs are due, when and at what pace. Whole hosts are leased, not single URLs."""

from rehi.frontier.agenda import Agenda, PlannedRequest, Purpose
from rehi.frontier.budget import Budget, adjust_price, allowance
from rehi.frontier.history import is_host_history, is_page_history
from rehi.frontier.politeness import (
    HouseLeaseRules,
    Pace,
    Politeness,
    check_settings,
    host_name,
    parse_hours,
    politeness_for,
    zone_of,
)
from rehi.frontier.schedule import (
    Plan,
    Sighting,
    next_time,
    parse_policy,
    plan_rare,
    plan_retry,
    plan_soonest,
    plan_visit,
    wait_after_failures,
)
from rehi.frontier.visit_rules import VISIT_RULES, apply_visits

__all__ = [
    "VISIT_RULES",
    "Agenda",
    "Budget",
    "HouseLeaseRules",
    "Pace",
    "Plan",
    "PlannedRequest",
    "Politeness",
    "Purpose",
    "Sighting",
    "adjust_price",
    "allowance",
    "apply_visits",
    "check_settings",
    "host_name",
    "is_host_history",
    "is_page_history",
    "next_time",
    "parse_hours",
    "parse_policy",
    "plan_rare",
    "plan_retry",
    "plan_soonest",
    "plan_visit",
    "politeness_for",
    "wait_after_failures",
    "zone_of",
]
