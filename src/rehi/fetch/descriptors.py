"""The limit of open files: raised so that many visits at once have their sockets and files."""

from __future__ import annotations

import contextlib
import importlib.util

_PER_VISIT = 4  # the socket, its copy while it is opened, a spooled body, and a connection that waits to be used again
_OTHERS = 512  # for the other parts of the program


def raise_descriptor_limit(visits: int) -> None:
    """Raise this process's limit of open files for so many visits at once, as far as the system allows.

    Most systems begin with 1,024, which is too few.
    """
    if importlib.util.find_spec("resource") is None:  # a system without such limits
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = visits * _PER_VISIT + _OTHERS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
