"""A guard around kinds of sources: what one raises or gives that it should not costs only its source."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from rehi.builtin import is_built_in, package_of
from rehi.errors import DiskFull, EngineError, SourceError
from rehi.model.claims import Claims
from rehi.model.source import Entry, Finding, Source
from rehi.process import is_shortage
from rehi.sources import Awaited, Discovered, Fetch, SourceKind, normalise

_log = logging.getLogger(__name__)


def discover_safely(name: str, kind: SourceKind, source: Source, fetch: Fetch) -> Iterator[Discovered]:
    """Yield the batches of a source; whatever its kind raises is a SourceError that names the kind and who brings it."""
    is_ours = is_built_in("source", name)
    try:
        for batch in kind.discover(source, source.cursor, fetch):
            _check(batch)
            if not is_ours:
                _check_findings(batch.entries)
            yield batch
    except (Awaited, SourceError, EngineError, DiskFull):
        raise
    except Exception as error:
        if is_shortage(error):
            raise
        _log.info("the kind of source %s failed", name, exc_info=True)  # the sentence is on the problems list
        brought = "" if is_ours else f" of {package_of('source', name)}"
        why = f"the kind {name}{brought} failed: {type(error).__name__}: {error}"
        raise SourceError(f"{source.name} can't be read further: {why}") from error


def _check(batch: Discovered) -> None:
    if not isinstance(batch, Discovered) or not isinstance(batch.cursor, bytes):
        raise TypeError(f"it gave a {type(batch).__name__}, and not a Discovered with bytes as its cursor")
    float(batch.share)


def _check_findings(entries: Sequence[Entry]) -> None:
    """Check what an outsider's kind names: nothing behind it expects a URL that is not in its normal form."""
    for entry in entries:
        if isinstance(entry, Finding) and (not isinstance(entry.claims, Claims) or normalise(entry.url) != entry.url):
            raise ValueError(f"{entry.url!r} is no URL in its normal form, or has no Claims")
