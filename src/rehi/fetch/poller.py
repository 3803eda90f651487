"""A poller: waits for the sockets and the timer of libcurl, and can be woken from another thread."""

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


class CurlPoller:
    """Waits for the sockets of a multi handle, and tells it what can be read and written.

    pycurl's own ``select`` knows no descriptors above 1,023 and can't be woken from another thread.
    """

    def __init__(self, multi: Any) -> None:
        self._multi = multi
        self._due: float | None = None
        self._registered: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_sender.setblocking(False)
        self._selector.register(self._wake_receiver, selectors.EVENT_READ)
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)

    def poll(self, timeout: float) -> bool:
        """Wait at most ``timeout`` seconds, and let libcurl do what can be done. Return whether ``wake`` was called."""
        wait = timeout if self._due is None else min(timeout, max(0.0, self._due - monotonic()))
        woken = False
        for key, mask in self._selector.select(wait):
            if key.fileobj is self._wake_receiver:
                woken = True
                with contextlib.suppress(BlockingIOError):
                    while self._wake_receiver.recv(4096):
                        pass
            else:
                self._multi.socket_action(key.fd, _BITS[mask])
        if self._due is not None and monotonic() >= self._due:
            self._due = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        return woken

    def wake(self) -> None:
        """Make a waiting ``poll`` return; may be called from any thread, also after ``close``."""
        # A full buffer means that it has been woken already; a closed socket, that nobody waits.
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"!")

    def close(self) -> None:
        """Stop polling; the multi handle must be closed before."""
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()

    def _on_timer(self, milliseconds: int) -> int:
        self._due = None if milliseconds < 0 else monotonic() + milliseconds / 1000
        return 0

    def _on_socket(self, event: int, descriptor: int, _multi: Any, _data: Any) -> int:
        if event == pycurl.POLL_REMOVE:
            if descriptor in self._registered:
                self._registered.discard(descriptor)
                self._selector.unregister(descriptor)
            return 0
        if descriptor in self._registered:
            # A descriptor that was closed and opened anew is known here but no longer to the system.
            with contextlib.suppress(OSError):
                self._selector.modify(descriptor, _EVENTS[event])
                return 0
        self._selector.register(descriptor, _EVENTS[event])
        self._registered.add(descriptor)
        return 0
