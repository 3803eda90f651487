"""Fetch: visits URLs safely and many at once, and reads robots.txt, redirects and soft 404s."""

from rehi.fetch.client import Fetcher
from rehi.fetch.connection_options import ConnectionOptions
from rehi.fetch.guard import parse_networks
from rehi.fetch.retry_after import retry_after
from rehi.fetch.robots import MAX_BYTES as ROBOTS_BYTES
from rehi.fetch.robots import PRODUCT, RobotRules, read_robots, robots_url
from rehi.fetch.soft_404 import MAX_BYTES as PROBE_BYTES
from rehi.fetch.soft_404 import (
    PAGE_BYTES,
    expects_file,
    front_url,
    is_app_shell,
    is_page,
    is_soft_404,
    is_wrong_type,
    probe_url,
    read_probe,
)
from rehi.fetch.target import redirect_target

__all__ = [
    "PAGE_BYTES",
    "PROBE_BYTES",
    "PRODUCT",
    "ROBOTS_BYTES",
    "ConnectionOptions",
    "Fetcher",
    "RobotRules",
    "expects_file",
    "front_url",
    "is_app_shell",
    "is_page",
    "is_soft_404",
    "is_wrong_type",
    "parse_networks",
    "probe_url",
    "read_probe",
    "read_robots",
    "redirect_target",
    "retry_after",
    "robots_url",
]
