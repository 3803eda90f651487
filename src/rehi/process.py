"""This process: its clock, how much memory it keeps, how many files it may have open, and what the system has run out of."""

from __future__ import annotations

import ctypes
import errno
import threading
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt


_SHORTAGES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE})


_ending = threading.Event()


def announce_end() -> None:
    """Say that this process was told to end: what ends with it is no trouble from now on."""
    _ending.set()


def wait_for_end(seconds: float) -> bool:
    """Return whether this process was told to end, or is within these seconds."""
    return _ending.wait(seconds)


def utc_now() -> datetime:
    """Return the time now: the clock that everything else is given."""
    return datetime.now(UTC)


def hold_memory() -> None:
    """Keep the memory of one body for the next: to give it back and ask again takes a tenth of the archive's CPU."""
    with suppress(AttributeError):  # a C library that has no such knobs
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 32 << 20)
        library.mallopt(_TRIM_THRESHOLD, 128 << 20)


def raise_descriptor_limit(wanted: int) -> int:
    """Raise the limit of open files as far as is wanted and the system allows; return the limit then.

    Most systems begin with 1,024, which is too few.
    """
    if find_spec("resource") is None:  # a system without such limits
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def is_shortage(error: BaseException) -> bool:
    """Whether the system has run out of memory, room on a disk or open files: nobody is to blame, and later it may do."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _SHORTAGES)
