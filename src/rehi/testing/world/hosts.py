"""A host: one site of the practice web, with all its URLs."""

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
    """Whether robots.txt lets a visitor have a document."""

    OPEN = "open"
    DENIED = "denied"  # robots.txt forbids it
    DEFERRED = "deferred"  # robots.txt can't be fetched


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldDocument:
    """The description of a document, from which its text is written."""

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
    key: str = ""  # documents with the same key have the same text; by default the URL
    copy_of: str = ""  # the URL of the document whose bytes these are
    declared: str = ""  # a wrong media type that is declared
    access: Access = Access.OPEN
    late: bool = False  # it is sent in pieces, with waits
    front: bool = False  # it links to everything on its site
    variant: int = 0

    @property
    def media_type(self) -> str:
        """The type as the server declares it, without the charset."""
        return self.declared or self.format.media_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """A URL that redirects."""

    url: str
    status: int
    location: str  # as it stands in the header
    expect: tuple[str, ...] = ()  # see ``Trap``


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A URL at which something goes wrong."""

    url: str
    about: str
    expect: tuple[str, ...]  # codes of ``rehi.errors``, one of which must be the result; "ok" for no error
    answer: Answer
    status: int = 200  # in the crawl log
    media_type: str = "text/html"


Resource = WorldDocument | Redirect | Trap


class Validators(StrEnum):
    """The headers that a site sends for conditional requests."""

    BOTH = "both"
    ETAG = "etag"
    MODIFIED = "modified"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A site: its owner, its robots.txt and headers, and its resources by path and query."""

    name: str
    owner: str
    design: Design = Design.OFFICE
    robots: bytes | None = b"User-agent: *\nDisallow: /otsi\n"
    robots_status: int = 200
    validators: Validators = Validators.BOTH
    gzip: bool = False
    resources: Mapping[str, Resource] = field(default_factory=dict)
    otherwise: Callable[[str], Answer | None] | None = None  # for any other path

    @property
    def documents(self) -> tuple[WorldDocument, ...]:
        """The documents of the site, in their order."""
        return tuple(resource for resource in self.resources.values() if isinstance(resource, WorldDocument))


def path_of(url: str) -> str:
    """Return the path and query of a URL of the practice web."""
    return url[url.index("/", len("http://")) :]


def host_of(url: str) -> str:
    """Return the host of a URL of the practice web."""
    return url[len("http://") : url.index("/", len("http://"))]
