"""A host: one site of the practice web, with everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rehi.testing.world.charsets import UTF8, Charset
from rehi.testing.world.formats import Format
from rehi.testing.world.pages import Design
from rehi.testing.world.replies import Answer

HOUR = 3_600
DAY = 86_400


class Access(StrEnum):
    """Whether a polite visitor may have a document."""

    OPEN = "open"
    DENIED = "denied"  # robots.txt forbids it
    DEFERRED = "deferred"  # robots.txt can't be had


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldDocument:
    """A document of the practice web, before it is written."""

    url: str
    language: str
    format: Format
    design: Design = Design.OFFICE
    charset: Charset = UTF8
    topic: str = "council"
    words: int = 200
    shout: bool = False
    register: bool = False
    period: int | None = None  # seconds after which it changes
    key: str = ""  # documents with one key have one text; by default the URL
    copy_of: str = ""  # the URL of the document whose bytes these are
    declared: str = ""  # a media type that isn't true
    access: Access = Access.OPEN
    late: bool = False  # it comes in pieces, with waits
    front: bool = False  # it links to everything on its site
    variant: int = 0

    @property
    def media_type(self) -> str:
        """The type as the server declares it, without the charset."""
        return self.declared or self.format.media_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """An address that sends visitors on."""

    url: str
    status: int
    location: str  # as it stands in the header
    expect: tuple[str, ...] = ()  # as of a trap


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """An address where something is wrong."""

    url: str
    about: str
    expect: tuple[str, ...]  # codes of ``rehi.errors`` of which one must follow; "ok" if none need
    answer: Answer
    status: int = 200  # as the crawl log has it
    media_type: str = "text/html"


Resource = WorldDocument | Redirect | Trap


class Validators(StrEnum):
    """By what a site lets visitors ask whether a page has changed."""

    BOTH = "both"
    ETAG = "etag"
    MODIFIED = "modified"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A site: whose it is, its manners, and its addresses by path and query."""

    name: str
    owner: str
    design: Design = Design.OFFICE
    robots: bytes | None = b"User-agent: *\nDisallow: /otsi\n"
    robots_status: int = 200
    validators: Validators = Validators.BOTH
    gzip: bool = False
    resources: Mapping[str, Resource] = field(default_factory=dict)
    otherwise: Callable[[str], Answer | None] | None = None  # for addresses without end

    @property
    def documents(self) -> tuple[WorldDocument, ...]:
        """Its documents, in their order."""
        return tuple(found for found in self.resources.values() if isinstance(found, WorldDocument))


def path_of(url: str) -> str:
    """The path and query of one of the practice web's URLs."""
    return url[url.index("/", len("http://")) :]


def host_of(url: str) -> str:
    """The host of one of the practice web's URLs."""
    return url[len("http://") : url.index("/", len("http://"))]
