"""The watch: the sockets and the timer that libcurl asks us to look after, and a bell to be woken by."""

from __future__ import annotations

import contextlib
import selectors
import socket
from time import monotonic
from typing import Any

import pycurl

_EVENTS = {
    pycurl.POLL_IN: selectors.EVENT_READ,
    pycurl.POLL_OUT: selectors.EVENT_WRITE,
    pycurl.POLL_INOUT: selectors.EVENT_READ | selectors.EVENT_WRITE,
}
_BITS = {
    selectors.EVENT_READ: pycurl.CSELECT_IN,
    selectors.EVENT_WRITE: pycurl.CSELECT_OUT,
    selectors.EVENT_READ | selectors.EVENT_WRITE: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
}


class Watch:
    """Waits for a multi handle's sockets.

    pycurl's own ``select`` knows no descriptors above 1,023 and can't be woken from another thread.
    """

    def __init__(self, multi: Any) -> None:
        self._multi = multi
        self._due: float | None = None
        self._known: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._bell, self._rope = socket.socketpair()
        self._bell.setblocking(False)
        self._rope.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ)
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)

    def step(self, timeout: float) -> bool:
        """Wait at most ``timeout`` seconds, let libcurl do what can be done; True when the bell was rung."""
        wait = timeout if self._due is None else min(timeout, max(0.0, self._due - monotonic()))
        rung = False
        for key, mask in self._selector.select(wait):
            if key.fileobj is self._bell:
                rung = self._silence()
            else:
                self._multi.socket_action(key.fd, _BITS[mask])
        if self._due is not None and monotonic() >= self._due:
            self._due = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        return rung

    def ring(self) -> None:
        """Make a waiting step return; may be called from any thread, also after the end."""
        # Full means that it has been rung already; closed, that nobody waits.
        with contextlib.suppress(OSError):
            self._rope.send(b"!")

    def close(self) -> None:
        """Stop watching; the multi handle must be closed before."""
        self._selector.close()
        self._bell.close()
        self._rope.close()

    def _silence(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            while self._bell.recv(4096):
                pass
        return True

    def _on_timer(self, milliseconds: int) -> int:
        self._due = None if milliseconds < 0 else monotonic() + milliseconds / 1000
        return 0

    def _on_socket(self, what: int, descriptor: int, _multi: Any, _data: Any) -> int:
        if what == pycurl.POLL_REMOVE:
            if descriptor in self._known:
                self._known.discard(descriptor)
                self._selector.unregister(descriptor)
            return 0
        if descriptor in self._known:
            # A descriptor that was closed and opened anew is known here but no longer to the system.
            with contextlib.suppress(OSError):
                self._selector.modify(descriptor, _EVENTS[what])
                return 0
        self._selector.register(descriptor, _EVENTS[what])
        self._known.add(descriptor)
        return 0
