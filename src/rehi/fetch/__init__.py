"""Fetch: visit URLs politely, safely and many at once."""

from rehi.fetch.client import Fetcher
from rehi.fetch.guard import parse_networks
from rehi.fetch.likeness import MAX_BYTES as PROBE_BYTES
from rehi.fetch.likeness import front_url, is_shell, looks_soft, probe_of, probe_url
from rehi.fetch.promise import PAGE_BYTES, is_page, is_wrong_type, promised_dataset
from rehi.fetch.redirect import redirect_target
from rehi.fetch.retry_after import retry_after
from rehi.fetch.robots import MAX_BYTES as ROBOTS_BYTES
from rehi.fetch.robots import PRODUCT, RobotRules, read_robots, robots_url
from rehi.fetch.ways import Way, Ways

__all__ = [
    "PAGE_BYTES",
    "PROBE_BYTES",
    "PRODUCT",
    "ROBOTS_BYTES",
    "Fetcher",
    "RobotRules",
    "Way",
    "Ways",
    "front_url",
    "is_page",
    "is_shell",
    "is_wrong_type",
    "looks_soft",
    "parse_networks",
    "probe_of",
    "probe_url",
    "promised_dataset",
    "read_robots",
    "redirect_target",
    "retry_after",
    "robots_url",
]
