"""Our side of the fetch benchmark: a list of URLs through the whole house, as ``rehi add`` and ``rehi harvest`` do it.

python -m bench.fetch_rehi URLS DATA REPORT
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from rehi.app import House, utc_now
from rehi.operations.sources import enter, read_in
from rehi.settings import FetchSettings, Settings, load_settings

CONNECTIONS = 256
# The peer neither slows down by itself nor asks for error pages; settings that there are not yet are left out.
_PLAIN = {"slow_factor": 0.0, "soft_errors": False}


def settings(data: Path, port: int) -> Settings:
    """No delay, and nothing done with a page that the peer does not do."""
    plain = {name: value for name, value in _PLAIN.items() if name in FetchSettings.model_fields}
    fetch = {"delay": 0.0, "connections": CONNECTIONS, "ports": [port], "allow_private": ["127.0.0.0/8"], **plain}
    return load_settings(data=data, fetch=fetch, work={"enrich": False, "graph": False})


def main(urls: str, data: str, report: str) -> None:
    """Harvest, and say what that took."""
    port = urlsplit(Path(urls).read_text(encoding="utf-8").split(maxsplit=1)[0]).port or 80
    with House(settings(Path(data), port)) as house:
        import_module("rehi.pipeline")
        house.catalogue.check()  # half a second of imports, and no part of the work
        idle_cpu, began = time.process_time(), time.time()
        read_in(house, enter(house, urls).id)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
            ended = time.time()
        totals = house.catalogue.totals(now=utc_now())
        counts = house.catalogue.sources()[0].counts
    numbers = {
        "began": began,
        "ended": ended,
        "idle_cpu": idle_cpu,
        "documents": totals.documents,
        "cpu_ms_main": time.process_time() - idle_cpu,
        "cpu_ms_extract": counts.get("seconds:extract", 0.0),
        "main_peak_mb": _peak_mb(),
        **{f"room_{room}": seconds for room, seconds in harvest.progress.seconds.items()},
    }
    Path(report).write_text(json.dumps(numbers), encoding="utf-8")


def _peak_mb() -> float:
    match = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{os.getpid()}/status").read_text(encoding="ascii"))
    return int(match[1]) / 1024 if match else 0.0


if __name__ == "__main__":
    main(*sys.argv[1:])
