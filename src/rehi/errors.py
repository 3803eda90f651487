"""Errors that say what happens next.

    RehiError
    ├── UserError            STOP        the person must do something; one sentence says what
    │   ├── SettingsError                a setting is wrong
    │   ├── SourceError                  the given log or list can't be used
    │   ├── DataFolderBusy               another rehi works in this folder
    │   ├── StoreVersionError            the store was made by a newer (or needs an upgrade by this) rehi
    │   ├── EngineError                  an engine can't be reached or opened
    │   ├── DiskFull                     nothing more can be kept
    │   ├── NotFound                     there is nothing under this name
    │   ├── LiesElsewhere                another worker has it, and only it can show it
    │   ├── BodyDropped                  the bytes of a version were dropped by a rule
    │   ├── ComparisonError              versions can't be compared in the way that was asked for
    │   ├── Busy                         too much of the same is under way
    │   └── QueryError                   a query is wrong or took too much
    │       ├── QueryTimeout
    │       └── QueryTooLarge
    ├── FetchError                       one visit went wrong
    │   ├── DnsFailed        RETRY
    │   ├── ConnectFailed    RETRY
    │   ├── TlsFailed        RETRY
    │   ├── TimedOut         RETRY
    │   ├── Truncated        RETRY       the body ended before its promised length
    │   ├── BadEncoding      RETRY       the body isn't what its Content-Encoding says
    │   ├── WrongChecksum    RETRY       the body isn't the one whose checksum came with it
    │   ├── BadStatus        RETRY       4xx or 5xx
    │   ├── Overloaded       RETRY       429 or 503: the whole host waits, for as long as it asks
    │   ├── SoftError        RETRY       an error page that says all is well
    │   ├── WrongType        SKIP        a web page where a dataset was promised; kept, and remarked on
    │   ├── BadAnswer        RETRY       none, not HTTP, or headers without end
    │   ├── HostDeferred     RETRY       robots.txt answered 5xx: the whole host waits
    │   ├── TooLarge         SKIP
    │   ├── RobotsDenied     SKIP
    │   ├── AddressDenied    SKIP        a private address, or a scheme or port we don't visit
    │   └── RedirectLoop     SKIP
    ├── ArchiveError
    │   ├── RecordDamaged    QUARANTINE  a record does not hold what its digest says
    │   ├── RecordMissing    QUARANTINE  its file or its place in it is gone
    │   ├── StoreUnreachable RETRY       the object store does not do now what it is asked for
    │   └── ObjectDiffers    QUARANTINE  the object store has other bytes under a file's name
    ├── TopicFailed          RETRY       a topic could not describe what has changed
    └── ReadError                        one document can't be read
        ├── NotText          SKIP        a type that holds no text
        ├── Unreadable       QUARANTINE  broken beyond what its format forgives
        ├── ReadTimeout      QUARANTINE
        ├── ReadTooLarge     QUARANTINE  it wanted more memory than a document may have
        ├── FacetFailed      QUARANTINE  one kind of knowledge could not be had; the text and all others stay
        └── ReaderCrashed    RETRY       the process died under it; quarantined after three times

Rooms raise; only the pipeline decides, by the class's ``disposition``. Foreign exceptions are translated where they
enter. ``code`` is the stable short name that the problems list and the API show.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import ClassVar


class Disposition(StrEnum):
    """What the pipeline does with a thing that failed."""

    RETRY = "retry"  # again later, waiting longer each time
    SKIP = "skip"  # not now; looked at again on its ordinary schedule
    QUARANTINE = "quarantine"  # set aside until a person or a newer version looks at it
    STOP = "stop"  # end the command with one sentence


def _code_of(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class RehiError(Exception):
    """Everything rehi raises on purpose."""

    disposition: ClassVar[Disposition] = Disposition.STOP
    code: ClassVar[str] = "rehi-error"
    advice: ClassVar[str] = ""  # what a person can do about it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.code = _code_of(cls.__name__)


class UserError(RehiError):
    """The person must do something."""


class SettingsError(UserError):
    """A setting is wrong."""


class SourceError(UserError):
    """The given log or list can't be used."""


class DataFolderBusy(UserError):
    """Another rehi works in this data folder."""


class StoreVersionError(UserError):
    """The store was made by another version of rehi."""


class EngineError(UserError):
    """An engine can't be reached or opened."""


class DiskFull(UserError):
    """Nothing more can be kept."""


class NotFound(UserError):
    """There is nothing under this name."""


class LiesElsewhere(UserError):
    """Another worker has it, and only that one can show it."""


class BodyDropped(UserError):
    """The bytes of a version were dropped by a rule; what is known of it stays."""


class ComparisonError(UserError):
    """Versions can't be compared in the way that was asked for."""


class Busy(UserError):
    """Too much of the same is under way."""

    advice = "Ask again in a moment."


class QueryError(UserError):
    """A query is wrong or took too much."""


class QueryTimeout(QueryError):
    """A query took longer than its deadline."""


class QueryTooLarge(QueryError):
    """A query wanted more memory than it may have."""


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


class ArchiveError(RehiError):
    """Something in the archive is not as it was written."""

    disposition = Disposition.QUARANTINE


class RecordDamaged(ArchiveError):
    """A record does not hold what its digest says."""

    advice = "Restore the file from a copy."


class RecordMissing(ArchiveError):
    """A record's file, or its place in the file, is gone."""

    advice = "Restore the file from a copy."


class StoreUnreachable(ArchiveError):
    """The object store can't be reached, or does not do what it is asked for."""

    disposition = Disposition.RETRY
    advice = "Files stay in the data folder until the store takes them. `rehi doctor` says what it answers."


class ObjectDiffers(ArchiveError):
    """The object store has other bytes under the name of a file."""

    advice = "Two archives may write under one prefix: give one of them another in archive.uri. The local file stays."


class ReadError(RehiError):
    """One document can't be read."""

    disposition = Disposition.QUARANTINE


class NotText(ReadError):
    """The body is of a type that holds no text."""

    disposition = Disposition.SKIP
    advice = "It is kept in the archive, but there is nothing in it to read."


class Unreadable(ReadError):
    """The body is broken beyond what its format forgives."""

    advice = "It is kept in the archive. A better reader may get more from it."


class ReadTimeout(ReadError):
    """Reading took longer than a document may take."""

    advice = "Raise work.timeout if such documents are worth it."


class ReadTooLarge(ReadError):
    """Reading wanted more memory than a document may have."""

    advice = "Raise work.memory if such documents are worth it."


class FacetFailed(ReadError):
    """One kind of knowledge about a document could not be had; its text and all else that is known of it stay."""

    advice = "`rehi plugins` says which package brings the facet. The document counts as out of date."


class TopicFailed(RehiError):
    """A topic could not describe what has changed, so the graph does not know of it yet."""

    disposition = Disposition.RETRY
    advice = "`rehi plugins` says which package brings the topic. It is tried again."


class ReaderCrashed(ReadError):
    """The process died under the document."""

    disposition = Disposition.RETRY
    advice = "It is tried again, and set aside after three times."
