"""Fetch: visit URLs politely, safely and many at once."""

from rehi.fetch.client import Fetcher
from rehi.fetch.redirect import redirect_target
from rehi.fetch.robots import PRODUCT, RobotRules, read_robots, robots_url

__all__ = ["PRODUCT", "Fetcher", "RobotRules", "read_robots", "redirect_target", "robots_url"]
