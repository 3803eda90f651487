"""The limit of open files: raised so that many visits at once have their sockets and files."""

from __future__ import annotations

import contextlib
import importlib.util

PER_VISIT = 4  # the socket, its copy while it is opened, a spooled body, and a connection that waits to be used again
OTHERS = 512  # for the other parts of the program


def raise_descriptor_limit(wanted: int) -> int:
    """Raise this process's limit of open files as far as is wanted and the system allows; return the limit then.

    Most systems begin with 1,024, which is too few.
    """
    if importlib.util.find_spec("resource") is None:  # a system without such limits
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted if soft == resource.RLIM_INFINITY else soft
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
