"""A handle: libcurl set up as every visit needs it, and for the way that one visit goes."""

from __future__ import annotations

from typing import Any

import pycurl

from rehi.fetch.names import REMEMBERED
from rehi.fetch.trust import certificates
from rehi.fetch.ways import Way
from rehi.settings import FetchSettings

_STALL_BYTES = 32  # a second
_SUPPRESS_CONNECT_HEADERS = 265  # pycurl has no name for it


def new_handle(settings: FetchSettings) -> Any:
    """A handle for the ordinary way."""
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
        (pycurl.DNS_CACHE_TIMEOUT, 2 * int(REMEMBERED)),  # so that what it was told outlives what we remember
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


def set_way(curl: Any, way: Way) -> None:
    """Change a handle from whatever way it had to this one."""
    curl.setopt(pycurl.SSL_VERIFYPEER, int(way.verify_tls))
    curl.setopt(pycurl.SSL_VERIFYHOST, 2 if way.verify_tls else 0)
    # Where several requests go out together, HTTP/2 lets them share a connection, and they wait for it.
    several = pycurl.CURL_HTTP_VERSION_2TLS if way.at_once else pycurl.CURL_HTTP_VERSION_1_1
    curl.setopt(pycurl.HTTP_VERSION, several)
    curl.setopt(pycurl.PIPEWAIT, int(way.at_once))
    curl.unsetopt(pycurl.PROXYUSERNAME)
    curl.unsetopt(pycurl.PROXYPASSWORD)
    curl.setopt(pycurl.PROXY, way.proxy.url if way.proxy is not None else "")
    if way.proxy is not None and (way.proxy.user or way.proxy.password):
        curl.setopt(pycurl.PROXYUSERNAME, way.proxy.user)
        curl.setopt(pycurl.PROXYPASSWORD, way.proxy.password)
