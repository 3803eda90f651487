"""Errors of what is kept and what is made of it: records, readings, the graph."""

from __future__ import annotations

from rehi.errors.base import Disposition, RehiError


class ArchiveError(RehiError):
    """Something in the archive is not as it was written."""

    disposition = Disposition.QUARANTINE


class RecordDamaged(ArchiveError):
    """A record does not hold what its digest says."""

    advice = "Restore the file from a copy, or let `rehi doctor --mend` bring back what can be."


class RecordMissing(ArchiveError):
    """A record's file, or its place in the file, is gone."""

    advice = "Restore the file from a copy, or let `rehi doctor --mend` bring back what can be."


class LiesElsewhere(RecordMissing):
    """Another worker has it, and only that one can show it."""

    disposition = Disposition.SKIP
    advice = "Ask that worker, or let all of them share a bucket: archive.uri."


class RecordLost(ArchiveError):
    """A part of a file was damaged and could not be brought back; the catalogue knows that."""

    advice = "Nothing can be done, unless there is a copy of the file."


class IndexWrong(ArchiveError):
    """The index beside a file is not what its records say."""

    advice = "`rehi doctor --mend` makes it again from the file."


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


class GraphLost(RehiError):
    """The graph is not there, is damaged, or lacks what was written to it."""

    disposition = Disposition.RETRY
    advice = (
        "It is written again from the catalogue by itself. Until that is done, queries say that they are incomplete."
    )


class GraphTaken(RehiError):
    """Another worker has taken the graph over, and writes it from now on."""

    disposition = Disposition.SKIP
    advice = "Ask the graph there; `rehi workers` says who has it. All other work goes on here."


class TopicFailed(RehiError):
    """A topic could not describe what has changed, so the graph does not know of it yet."""

    disposition = Disposition.RETRY
    advice = "`rehi plugins` says which package brings the topic. It is tried again."


class ReaderCrashed(ReadError):
    """The process died under the document."""

    disposition = Disposition.RETRY
    advice = "It is tried again, and set aside after three times."
