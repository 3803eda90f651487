"""Parts that can be loaded, and then fail."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyoxigraph import Triple

from rehi.enrich import SilentFacet
from rehi.model.document import Document
from rehi.model.source import Finding, Source
from rehi.ports import BackupStore, DescribedPage, GraphChange, GraphContext
from rehi.sources.kind import Discovered, Fetch, Recognition, SourceSample


class FailingFacet(SilentFacet):
    """Fails for every document."""

    name = "failing"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> Any:
        """Fail."""
        raise ZeroDivisionError("nothing can be known")


class FailingState(SilentFacet):
    """Finds something, and can't say it."""

    name = "failing_state"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> int:
        """Count, but end the whole process if a document asks for it."""
        if "deadly" in document.text:
            os._exit(3)
        return len(document.text)

    def state(self, brief: Any, page: DescribedPage) -> Iterable[Triple]:
        """Fail."""
        raise LookupError("no words for it")


class FailingShow(SilentFacet):
    """Finds something, and can't show it."""

    name = "failing_show"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> int:
        """Count."""
        return len(document.text)

    def show(self, value: Any) -> Iterable[tuple[str, str]]:
        """Fail."""
        raise AttributeError("nothing to see")


class FailingTerms(SilentFacet):
    """Finds something, and gives no terms but numbers."""

    name = "failing_terms"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> int:
        """Count."""
        return len(document.text)

    def terms(self, value: Any) -> Any:
        """Give what is no term."""
        return [value]


class FailingEncode(SilentFacet):
    """Finds something that can be written once: what is read from that can't be written again."""

    name = "failing_encode"
    version = 1

    def find(self, document: Document, facets: Mapping[str, Any]) -> int:
        """Count, but give something that can't be written at all if a document asks for it."""
        return -1 if "unwritable" in document.text else len(document.text)

    def encode(self, value: Any) -> int:
        """Fail for what was read."""
        if value < 0:
            raise KeyError("not twice")
        return int(value)

    def decode(self, data: Any, version: int) -> int:
        """Return what can't be written."""
        return -int(data)


class FailingKind:
    """A kind of sources that gives something, and then fails."""

    title = "shaky list"
    unit = "shakes"

    def recognise(self, sample: SourceSample) -> Recognition:
        """Recognise its own, and fail for what it does not know."""
        if sample.start.startswith(b"shaky"):
            return Recognition(1.0, "a shaky list")
        raise IndexError("what is this")

    def discover(self, source: Source, cursor: bytes, fetch: Fetch) -> Iterator[Discovered]:
        """Give a URL, and then something else, by what the source says."""
        with fetch(source.location) as fetched:
            _, url, what = fetched.path.read_text(encoding="utf-8").split()
        yield Discovered([Finding(url)], b"1", 0.5)
        odd: dict[str, Any] = {"entry": Discovered(["what"], b"2", 1.0), "url": Discovered([Finding("a b")], b"2", 1.0)}  # type: ignore[list-item]
        if what in odd:
            yield odd[what]
        raise RuntimeError("the ground moved")


def open_backups(uri: str, **_: object) -> BackupStore:
    """Fail."""
    raise ArithmeticError("no ruin there")


class FailingTopic:
    """Fails for every resource."""

    follows = "resource"

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Fail."""
        raise OSError("nothing to say")


class LonelyTopic(FailingTopic):
    """Follows nothing, so that it would never be told of anything."""

    follows = ""


class HenTopic(FailingTopic):
    """Follows what follows it."""

    follows = "egg"


class EggTopic(FailingTopic):
    """Follows what follows it."""

    follows = "hen"


class OrphanTopic(FailingTopic):
    """Follows what nobody has installed."""

    follows = "parent"


FACET = FailingFacet()
STATE = FailingState()
SHOW = FailingShow()
FACET_TERMS = FailingTerms()
ENCODE = FailingEncode()
KIND = FailingKind()
TOPIC = FailingTopic()
LONELY = LonelyTopic()
HEN = HenTopic()
EGG = EggTopic()
ORPHAN = OrphanTopic()
