"""Errors of visits: a page could not be had."""

from __future__ import annotations

from rehi.errors.base import Disposition, RehiError


class FetchError(RehiError):
    """One visit went wrong."""

    disposition = Disposition.RETRY


class DnsFailed(FetchError):
    """The host's name has no address."""

    advice = "The host may be gone. It is tried again, less and less often."


class ConnectFailed(FetchError):
    """Nobody answers at the address."""

    advice = "The host may be down. It is tried again, less and less often."


class TlsFailed(FetchError):
    """The host could not prove who it is."""

    advice = "The host's certificate is not valid. If you know why, set verify_tls = false in [[fetch.hosts]]."


class TimedOut(FetchError):
    """The answer took too long."""

    advice = "Raise fetch.timeout if this host is slow but worth waiting for."


class Truncated(FetchError):
    """The body ended before its promised length."""

    advice = "Half a file is never kept as a version. It is tried again."


class BadEncoding(FetchError):
    """The body is not what its Content-Encoding says."""

    advice = "The server sends broken compression. It is tried again."


class BadStatus(FetchError):
    """The server answered 4xx or 5xx."""

    advice = "Error pages are never kept as versions. It is tried again, less and less often."


class WrongChecksum(FetchError):
    """The body is not the one whose checksum the server sent with it."""

    advice = "It was damaged on its way, or the server keeps wrong checksums. It is tried again."


class Overloaded(BadStatus):
    """The server answered 429 or 503: it has too much to do."""

    advice = "The host is left in peace for as long as it asks, and visited more slowly after that."


class SoftError(FetchError):
    """The page is the one that the host shows for whatever it doesn't have, with a status that says all is well."""

    advice = "Error pages are never kept as versions. It is tried again, less and less often."


class WrongType(FetchError):
    """A web page came where a dataset was promised."""

    disposition = Disposition.SKIP
    advice = "It was kept. Look at it: it may be an error page, a login or a preview in place of the file."


class BadAnswer(FetchError):
    """There is no answer, it is not HTTP, or its headers do not end."""

    advice = "Something other than a web server may listen there."


class HostDeferred(FetchError):
    """The host's robots.txt could not be had, so the whole host waits."""

    advice = "Until robots.txt can be had, or fetch.robots_unreachable is over, nothing there may be visited."


class TooLarge(FetchError):
    """The body is larger than the cap."""

    disposition = Disposition.SKIP
    advice = "Raise fetch.max_bytes to keep files of this size."


class RobotsDenied(FetchError):
    """The site asks not to be visited here."""

    disposition = Disposition.SKIP
    advice = "robots.txt forbids it. It is looked at again on the ordinary schedule."


class AddressDenied(FetchError):
    """The address is private, or the scheme or port is not one we visit."""

    disposition = Disposition.SKIP
    advice = "Name the network in fetch.allow_private if it is yours and meant to be harvested."


class RedirectLoop(FetchError):
    """The redirects lead round in a circle, or are too many."""

    disposition = Disposition.SKIP
    advice = "The site has to mend its redirects."
