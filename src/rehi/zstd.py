"""The zstd module: that of the standard library from Python 3.14 on, or its backport."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


@cache
def zstd_module() -> Any:
    """Return the module. What stands in both has the same names."""
    package = "compression" if find_spec("compression") is not None else "backports"
    return import_module(f"{package}.zstd")
