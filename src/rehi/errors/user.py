"""Errors that end a command or a request: the person must do something."""

from __future__ import annotations

from rehi.errors.base import Disposition, RehiError


class UserError(RehiError):
    """The person must do something."""


class SettingsError(UserError):
    """A setting is wrong, or what was asked can't be understood."""

    def __init__(self, message: str = "", *, names: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.names = names  # of the parameters that are wrong together, as HTTP has them


class SourceError(UserError):
    """The given log or list can't be used."""


class DataFolderBusy(UserError):
    """Another rehi works in this data folder."""


class StoreVersionError(UserError):
    """The store was made by another version of rehi."""


class EngineError(UserError):
    """An engine can't be reached or opened."""


class CatalogueLost(EngineError):
    """The catalogue is gone or empty, though the data folder holds what only a catalogue can have brought there."""


class GraphDamaged(EngineError):
    """The graph's own files can't be read."""

    advice = (
        "The query is not to blame. The harvest that runs, or the next one, sets the graph aside and writes it again "
        "from the catalogue; so does `rehi doctor --mend`."
    )


class GraphMissing(EngineError):
    """There is no graph to ask: none has been published yet, or its files are gone."""

    advice = "The query is not to blame. The harvest that runs, or the next one, writes the graph from the catalogue."


class EngineAway(EngineError):
    """An engine does not answer now; whatever needs it is done when it is back."""

    disposition = Disposition.WAIT
    advice = "It is waited for, and everything goes on by itself. `rehi doctor` says what the engine answers."


class CatalogueAway(EngineAway):
    """The catalogue's database does not answer now."""


class ArchiveAway(EngineAway):
    """The archive's bucket does not answer now."""

    advice = "Files stay in the data folder until the bucket takes them. `rehi doctor` says what it answers."


class ArchiveRefuses(ArchiveAway):
    """The archive's bucket refuses what it is asked for, or is not there any more."""

    advice = "Look at archive.uri, archive.endpoint and the credentials. `rehi doctor` says what the bucket answers."


class GraphAway(EngineAway):
    """The graph can't be written now."""


class ReadersAway(EngineAway):
    """The processes that read documents have ended, and are started again."""

    advice = "Documents wait meanwhile. Look for who ends processes, such as a system short of memory."


class DiskFull(UserError):
    """The disk is full, so that nothing more can be kept."""


class NotFound(UserError):
    """There is nothing under this name."""


class BodyPruned(UserError):
    """The bytes of a version were dropped by a rule; what is known of it stays."""

    code = "body-dropped"  # as clients know it


class BackupDamaged(UserError):
    """A backup is not as it was written."""


class BackupBusy(UserError):
    """Somebody else writes or prunes these backups."""


class ComparisonError(UserError):
    """Versions can't be compared in the way that was asked for."""


class Busy(UserError):
    """Too many requests of the same kind are under way."""

    advice = "Ask again in a moment."


class QueryError(UserError):
    """A query is wrong or took too much."""


class QueryTimeout(QueryError):
    """A query took longer than its deadline."""


class QueryTooLarge(QueryError):
    """A query wanted more memory than it may have."""
