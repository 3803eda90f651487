"""A failure: libcurl's error code, translated to one of our errors with a message for people."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pycurl

from rehi.errors import (
    AddressDenied,
    BadAnswer,
    BadEncoding,
    ConnectFailed,
    DnsFailed,
    FetchError,
    TimedOut,
    TlsFailed,
    TooLarge,
    Truncated,
)

_TOO_LARGE_FIELD = (
    100  # CURLE_TOO_LARGE, and below an HTTP/2 stream and a proxy's refusal: pycurl has no names for them
)
_HTTP2_STREAM = 92
_PROXY = 97


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is known when a transfer has failed."""

    code: int
    message: str  # libcurl's own
    errno: int
    port: int
    proxied: bool  # whether a proxy was to make the connection
    denied: str  # an address that the guard refused
    opened: bool  # whether another address was tried
    answered: bool  # whether the headers had come
    seconds: float
    connected: bool
    looked_up: bool


_PLAIN: dict[int, tuple[type[FetchError], str]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: (DnsFailed, "the name has no address"),
    pycurl.E_PARTIAL_FILE: (Truncated, "the connection closed before the whole body had come"),
    pycurl.E_GOT_NOTHING: (BadAnswer, "the connection was closed without an answer"),
    pycurl.E_BAD_CONTENT_ENCODING: (BadEncoding, "the body is not compressed as its headers say"),
    pycurl.E_FILESIZE_EXCEEDED: (TooLarge, "the body is larger than allowed"),
    pycurl.E_URL_MALFORMAT: (AddressDenied, "the URL can't be requested"),
    pycurl.E_OUT_OF_MEMORY: (ConnectFailed, "there was not enough memory for the request"),
    _TOO_LARGE_FIELD: (BadAnswer, "the headers of the answer are too large"),
}
_BROKEN = frozenset({pycurl.E_SEND_ERROR, pycurl.E_RECV_ERROR, pycurl.E_HTTP2, _HTTP2_STREAM})
_TLS = frozenset(
    {
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_CRL_BADFILE,
        pycurl.E_SSL_INVALIDCERTSTATUS,
        pycurl.E_SSL_PINNEDPUBKEYNOTMATCH,
        pycurl.E_USE_SSL_FAILED,
    }
)


def translate(failure: Failure) -> FetchError:
    """Return the error for a failed transfer; its message still lacks the host's name."""
    kind, reason = _explain(failure)
    return kind(reason)


def _explain(failure: Failure) -> tuple[type[FetchError], str]:
    code = failure.code
    if failure.proxied and (reason := _proxy_reason(failure)):
        return ConnectFailed, reason
    if failure.denied and not failure.opened and code == pycurl.E_COULDNT_CONNECT:
        return AddressDenied, f"its address {failure.denied} is not public and not among fetch.allow_private"
    if code in _PLAIN:
        return _PLAIN[code]
    if code in _TLS:
        return TlsFailed, f"no trusted connection could be made ({_phrase(failure.message)})"
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return TimedOut, _timeout_reason(failure)
    if code in (pycurl.E_UNSUPPORTED_PROTOCOL, pycurl.E_FTP_WEIRD_SERVER_REPLY):
        return BadAnswer, f"the answer is not proper HTTP ({_phrase(failure.message)})"
    if code == pycurl.E_COULDNT_CONNECT:
        return ConnectFailed, f"nobody answers on port {failure.port}{_system_reason(failure.errno)}"
    if code == pycurl.E_RECV_ERROR and "chunk" in failure.message:
        return BadAnswer, f"the body's chunks are malformed ({_phrase(failure.message)})"
    if code in _BROKEN:
        reason = _phrase(failure.message)
        if failure.answered:
            return Truncated, f"the connection broke in the middle of the answer ({reason})"
        return BadAnswer, f"the connection broke before the answer ({reason})"
    return ConnectFailed, f"the visit failed ({_phrase(failure.message)})"


def _proxy_reason(failure: Failure) -> str:
    """Return what went wrong with the proxy itself; empty if the proxy did not fail."""
    if failure.code == pycurl.E_COULDNT_RESOLVE_PROXY:
        return "the name of the proxy in fetch.hosts has no address"
    if failure.code == pycurl.E_COULDNT_CONNECT and not failure.connected:
        return f"the proxy in fetch.hosts does not answer on port {failure.port}{_system_reason(failure.errno)}"
    if failure.code == _PROXY or "CONNECT tunnel failed" in failure.message:
        return f"the proxy in fetch.hosts made no connection ({_phrase(failure.message)})"
    return ""


def _timeout_reason(failure: Failure) -> str:
    if "too slow" in failure.message.lower():
        return "it all but stopped sending"
    if failure.answered:
        return f"the body had not come within {failure.seconds:.1f} seconds"
    if not failure.looked_up:
        return f"its name could not be looked up within {failure.seconds:.1f} seconds"
    if not failure.connected:
        return f"no connection could be made within {failure.seconds:.1f} seconds"
    return f"it gave no answer within {failure.seconds:.1f} seconds"


def _system_reason(errno: int) -> str:
    return f" ({os.strerror(errno).lower()})" if errno else ""


def _phrase(message: str) -> str:
    """Return libcurl's message as part of a sentence."""
    line = " ".join("".join(c if c.isprintable() else " " for c in message[:200]).split()).rstrip(".")
    return line[:1].lower() + line[1:] if line[1:2].islower() else line or "no reason was given"
