"""The ceiling: how many pages per second the server gives to a client that does nothing with them."""

from __future__ import annotations

import re
import shutil
import subprocess
from time import perf_counter
from typing import Any

from bench.site import Site

SECONDS = 3
CONNECTIONS = 200


def measure_ceiling(site: Site) -> dict[str, float | str]:
    """By wrk where there is one, else by a loop of bare libcurl handles."""
    wrk = shutil.which("wrk")
    if wrk is None:
        return {"tool": "a loop of bare libcurl handles", "pages_per_second": _loop(site)}
    url = site.urls[len(site.urls) // 2]
    command = [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", url]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    match = re.search(r"Requests/sec:\s+([0-9.]+)", output)
    return {"tool": "wrk", "pages_per_second": float(match[1]) if match else 0.0}


def _loop(site: Site) -> float:
    import pycurl

    multi = pycurl.CurlMulti()
    waiting = list(reversed(site.urls))
    idle = [_handle() for _ in range(CONNECTIONS)]
    busy = 0
    began = perf_counter()
    while waiting or busy:
        while waiting and idle:
            handle = idle.pop()
            handle.setopt(pycurl.URL, waiting.pop())
            multi.add_handle(handle)
            busy += 1
        multi.perform()
        _, done, failed = multi.info_read()
        for handle in [*done, *(one[0] for one in failed)]:
            multi.remove_handle(handle)
            idle.append(handle)
            busy -= 1
        multi.select(0.05)
    return len(site.urls) / (perf_counter() - began)


def _handle() -> Any:
    import pycurl

    handle = pycurl.Curl()
    handle.setopt(pycurl.WRITEFUNCTION, len)
    return handle
