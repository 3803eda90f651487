"""Errors that say what happens next.

    RehiError
    ├── UserError            STOP        the person must do something; one sentence says what
    │   ├── SettingsError                a setting is wrong, or what was asked can't be understood
    │   ├── SourceError                  the given log or list can't be used
    │   ├── DataFolderBusy               another rehi works in this folder
    │   ├── StoreVersionError            the store was made by a newer (or needs an upgrade by this) rehi
    │   ├── EngineError                  an engine can't be reached or opened
    │   │   ├── CatalogueLost            it is gone or empty, beside an archive that is not
    │   │   ├── GraphDamaged             the graph's own files can't be read
    │   │   ├── GraphMissing             there is no graph to ask
    │   │   └── EngineAway   WAIT        it does not answer now, and may well in a moment
    │   │       ├── CatalogueAway
    │   │       ├── ArchiveAway          the bucket
    │   │       │   └── ArchiveRefuses   it answers, but won't: an error at the start, and no document's fault later
    │   │       ├── GraphAway
    │   │       └── ReadersAway          there are no processes to read documents in
    │   ├── DiskFull                     the disk is full, so that nothing more can be kept
    │   ├── NotFound                     there is nothing under this name
    │   ├── BodyPruned                  the bytes of a version were dropped by a rule
    │   ├── ComparisonError              versions can't be compared in the way that was asked for
    │   ├── BackupDamaged                a backup is not as it was written
    │   ├── BackupBusy                   somebody else writes or prunes these backups
    │   ├── Busy                         too many requests of the same kind are under way
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
    │   │   └── LiesElsewhere  SKIP      another worker has it, and only that one can show it
    │   ├── RecordLost       QUARANTINE  it was damaged, and could not be brought back
    │   ├── IndexWrong       QUARANTINE  the index of a file is not what its records say
    │   └── ObjectDiffers    QUARANTINE  the object store has other bytes under a file's name
    ├── GraphLost            RETRY       the graph lacks what was written to it, and is written again
    ├── GraphTaken           SKIP        another worker has taken the graph over, and writes it
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

from rehi.errors.base import (
    Disposition,
    RehiError,
)
from rehi.errors.knowledge import (
    ArchiveError,
    FacetFailed,
    GraphLost,
    GraphTaken,
    IndexWrong,
    LiesElsewhere,
    NotText,
    ObjectDiffers,
    ReaderCrashed,
    ReadError,
    ReadTimeout,
    ReadTooLarge,
    RecordDamaged,
    RecordLost,
    RecordMissing,
    TopicFailed,
    Unreadable,
)
from rehi.errors.user import (
    ArchiveAway,
    ArchiveRefuses,
    BackupBusy,
    BackupDamaged,
    BodyPruned,
    Busy,
    CatalogueAway,
    CatalogueLost,
    ComparisonError,
    DataFolderBusy,
    DiskFull,
    EngineAway,
    EngineError,
    GraphAway,
    GraphDamaged,
    GraphMissing,
    NotFound,
    QueryError,
    QueryTimeout,
    QueryTooLarge,
    ReadersAway,
    SettingsError,
    SourceError,
    StoreVersionError,
    UserError,
)
from rehi.errors.visit import (
    AddressDenied,
    BadAnswer,
    BadEncoding,
    BadStatus,
    ConnectFailed,
    DnsFailed,
    FetchError,
    HostDeferred,
    Overloaded,
    RedirectLoop,
    RobotsDenied,
    SoftError,
    TimedOut,
    TlsFailed,
    TooLarge,
    Truncated,
    WrongChecksum,
    WrongType,
)

__all__ = [
    "AddressDenied",
    "ArchiveAway",
    "ArchiveError",
    "ArchiveRefuses",
    "BackupBusy",
    "BackupDamaged",
    "BadAnswer",
    "BadEncoding",
    "BadStatus",
    "BodyPruned",
    "Busy",
    "CatalogueAway",
    "CatalogueLost",
    "ComparisonError",
    "ConnectFailed",
    "DataFolderBusy",
    "DiskFull",
    "Disposition",
    "DnsFailed",
    "EngineAway",
    "EngineError",
    "FacetFailed",
    "FetchError",
    "GraphAway",
    "GraphDamaged",
    "GraphLost",
    "GraphMissing",
    "GraphTaken",
    "HostDeferred",
    "IndexWrong",
    "LiesElsewhere",
    "NotFound",
    "NotText",
    "ObjectDiffers",
    "Overloaded",
    "QueryError",
    "QueryTimeout",
    "QueryTooLarge",
    "ReadError",
    "ReadTimeout",
    "ReadTooLarge",
    "ReaderCrashed",
    "ReadersAway",
    "RecordDamaged",
    "RecordLost",
    "RecordMissing",
    "RedirectLoop",
    "RehiError",
    "RobotsDenied",
    "SettingsError",
    "SoftError",
    "SourceError",
    "StoreVersionError",
    "TimedOut",
    "TlsFailed",
    "TooLarge",
    "TopicFailed",
    "Truncated",
    "Unreadable",
    "UserError",
    "WrongChecksum",
    "WrongType",
]
