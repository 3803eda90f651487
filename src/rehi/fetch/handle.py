"""A handle: libcurl set up as every visit needs it, with the options of one host, and certificates."""

from __future__ import annotations

import ssl
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pycurl

from rehi.fetch.connection_options import ConnectionOptions
from rehi.fetch.dns import CACHE_SECONDS
from rehi.settings import FetchSettings

_STALL_BYTES = 32  # a second
_SUPPRESS_CONNECT_HEADERS = 265  # pycurl has no name for it


@cache
def certificates() -> str:
    """Return the path of the system's certificates, else of certifi's; empty to leave it to libcurl.

    The wheels of pycurl look where Red Hat keeps them, which is nowhere on Debian or a Mac.
    """
    system = ssl.get_default_verify_paths().cafile
    if system and Path(system).is_file():
        return system
    if find_spec("certifi") is not None:
        return str(import_module("certifi").where())
    return ""


def new_handle(settings: FetchSettings) -> Any:
    """Return a handle with the default options."""
    curl = pycurl.Curl()
    for option, value in (
        (pycurl.NOSIGNAL, 1),
        (pycurl.NOPROGRESS, 1),
        (pycurl.PROXY, ""),  # nothing but the settings decides where we connect, so neither may a proxy variable
        (pycurl.NOPROXY, ""),
        (_SUPPRESS_CONNECT_HEADERS, 1),
        (pycurl.FOLLOWLOCATION, 0),
        (pycurl.HTTP09_ALLOWED, 0),
        (pycurl.HTTP_CONTENT_DECODING, 0),
        (pycurl.CONNECTTIMEOUT_MS, max(1, int(settings.connect_timeout * 1000))),
        (pycurl.LOW_SPEED_LIMIT, _STALL_BYTES),
        (pycurl.LOW_SPEED_TIME, max(1, round(settings.stall_timeout))),
        (pycurl.DNS_CACHE_TIMEOUT, 2 * int(CACHE_SECONDS)),  # so that libcurl's own cache outlives ours
        # On one connection with one request at a time, HTTP/2 costs a quarter to a third more CPU than 1.1 and saves
        # nothing (on loopback with TLS: 550-590 against 420-470 microseconds a page).
        (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1),
    ):
        curl.setopt(option, value)
    curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    bundle = certificates()
    if bundle:
        curl.setopt(pycurl.CAINFO, bundle)
        curl.setopt(pycurl.PROXY_CAINFO, bundle)
    return curl


def set_options(curl: Any, options: ConnectionOptions) -> None:
    """Replace the connection options of a handle."""
    curl.setopt(pycurl.SSL_VERIFYPEER, int(options.verify_tls))
    curl.setopt(pycurl.SSL_VERIFYHOST, 2 if options.verify_tls else 0)
    # Where several requests go out together, HTTP/2 lets them share a connection, and they wait for it.
    several = pycurl.CURL_HTTP_VERSION_2TLS if options.concurrent else pycurl.CURL_HTTP_VERSION_1_1
    curl.setopt(pycurl.HTTP_VERSION, several)
    curl.setopt(pycurl.PIPEWAIT, int(options.concurrent))
    curl.unsetopt(pycurl.PROXYUSERNAME)
    curl.unsetopt(pycurl.PROXYPASSWORD)
    curl.setopt(pycurl.PROXY, options.proxy.url if options.proxy is not None else "")
    if options.proxy is not None and (options.proxy.user or options.proxy.password):
        curl.setopt(pycurl.PROXYUSERNAME, options.proxy.user)
        curl.setopt(pycurl.PROXYPASSWORD, options.proxy.password)
