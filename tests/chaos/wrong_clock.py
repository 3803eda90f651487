"""A wrong clock: a small library that is loaded before all others, and moves the time of day as a file says.

Debian's libfaketime moves time too, but either the steady clock with it, by which nothing should be measured then, or Python's
``sleep`` fails.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile int64_t *ahead;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
    real = dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("WRONG_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) ahead = page;
}

int clock_gettime(clockid_t which, struct timespec *at) {
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(which, at);
    if (!failed && ahead && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) at->tv_sec += *ahead;
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


def can_be_made() -> bool:
    """Whether there is a compiler here; without one the clock would stand still, and nobody would notice."""
    return shutil.which("cc") is not None


class WrongClock:
    """A clock for processes that are started with its ``environment``, those that run already too."""

    def __init__(self, folder: Path) -> None:
        self._file, library = folder / "clock", folder / "clock.so"
        self.set(0)
        command = ["cc", "-x", "c", "-O1", "-shared", "-fPIC", "-o", str(library), "-", "-ldl"]
        subprocess.run(command, input=SOURCE.encode(), check=True)
        self.environment = {"LD_PRELOAD": str(library), "WRONG_CLOCK": str(self._file)}

    def set(self, seconds: int) -> None:
        """Show a time that is so many seconds ahead of the true one, or behind it."""
        with self._file.open("r+b" if self._file.exists() else "wb") as file:  # never replaced: it is mapped
            file.write(struct.pack("=q", seconds))
