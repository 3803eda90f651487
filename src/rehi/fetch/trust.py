"""The trust store: the file of CA certificates against which servers are checked."""

from __future__ import annotations

import ssl
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


@cache
def certificates() -> str:
    """Return the path of the system's certificates, else of certifi's; empty to leave it to libcurl.

    The wheels of pycurl look where Red Hat keeps them, which is nowhere on Debian or a Mac.
    """
    system = ssl.get_default_verify_paths().cafile
    if system and Path(system).is_file():
        return system
    if find_spec("certifi") is not None:
        return str(import_module("certifi").where())
    return ""
