"""Malformed HTTP: requests that reach no operation, since their line, headers or body can't be read."""

from __future__ import annotations

import re
from http import HTTPStatus

import h11

from rehi.serve.problem_details import HELP, KINDS, ProblemDetails

TOO_LONG = 431  # what h11 calls a line or a head that does not end
_QUOTED = re.compile(r":? *(?:bytearray\()?b['\"].*", re.DOTALL)  # bytes of the request, which are not repeated
BROKEN_OFF = "the request broke off before its end"


class NotingConnection(h11.Connection):
    """A connection that notes why it could not read on, which uvicorn does not tell."""

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)
        self.broken_by: h11.RemoteProtocolError | None = None

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return what comes next; RemoteProtocolError if it can't be read."""
        try:
            return super().next_event()
        except h11.RemoteProtocolError as error:
            self.broken_by = error
            raise

    def holds_part(self) -> bool:
        """Whether a request has begun to come, and its end has not."""
        return self.their_state is h11.SEND_BODY or (self.their_state is h11.IDLE and bool(self.trailing_data[0]))


def describe_malformed(connection: NotingConnection, path: str) -> ProblemDetails:
    """Say what is wrong with the bytes of a request; it broke off if nothing was wrong with them."""
    error = connection.broken_by
    status, detail = 400, BROKEN_OFF
    if error is not None:
        detail = f"this is no HTTP/1.1 that can be read: {_reason(error)}"
        if error.error_status_hint == TOO_LONG:
            status, detail = _describe_too_long(connection)
    code, advice = ("bad-request", "Send HTTP/1.1, as RFC 9112 has it.") if status == 400 else KINDS[status]
    return ProblemDetails(
        type=HELP + code,
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        instance=path,
        code=code,
        advice=advice,
    )


def _describe_too_long(connection: NotingConnection) -> tuple[int, str]:
    """Return the status and the sentence for what does not end: 414 if it is still the first line."""
    begun = connection.trailing_data[0]
    if b"\n" not in begun.lstrip(b"\r\n"):
        return 414, f"the first line is longer than {len(begun):,} bytes"
    return TOO_LONG, f"the line and the headers are longer than {len(begun):,} bytes"


def _reason(error: h11.RemoteProtocolError) -> str:
    text = _QUOTED.sub("", str(error))
    return text[:1].lower() + text[1:]
