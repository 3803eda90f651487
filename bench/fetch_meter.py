"""A meter: runs commands side by side, and says what they and all their descendants cost, orphans included.

python -m bench.fetch_meter '[["command", "argument"], …]'
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter

_PR_SET_CHILD_SUBREAPER = 36  # orphans become our children, so that their time counts as ours


def measure(commands: Sequence[Sequence[str]]) -> dict[str, float]:
    """Run to the end of the last descendant; the worst exit code, wall and CPU seconds, the largest process in MB."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = perf_counter()
    processes = [subprocess.Popen(command, stdout=sys.stderr) for command in commands]
    code = max(abs(process.wait()) for process in processes)
    seconds = perf_counter() - began
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "code": code,
        "seconds": seconds,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "largest_mb": used.ru_maxrss / 1024,
    }


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
