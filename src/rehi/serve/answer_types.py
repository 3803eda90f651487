"""Types of answers that are written piece by piece, so that no function returns a value of them: they are for the schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime as Time
from typing import Annotated, Any, Literal

from pydantic import Field

from rehi.model.document import Mention
from rehi.model.visit import Outcome

CdxRows = Sequence[
    Sequence[str]
]  # the first row names the fields; at the end, perhaps, an empty one and one with the key


@dataclass(frozen=True, slots=True, kw_only=True)
class SparqlTerm:
    """A term of an answer: a URI, a literal with its type or language, or a blank node."""

    type: Literal["uri", "literal", "bnode", "triple"]
    value: str | Mapping[str, SparqlTerm]  # of a triple, its terms
    datatype: str = ""
    language: Annotated[str, Field(alias="xml:lang")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparqlHead:
    """The variables of an answer; none of ASK."""

    vars: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SparqlRows:
    """The rows of an answer: terms by the names of variables, without those that are not bound."""

    bindings: Sequence[Mapping[str, SparqlTerm]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SparqlJson:
    """The answer to SELECT, with rows, or to ASK, with true or false (SPARQL 1.1 Query Results JSON Format)."""

    head: SparqlHead
    results: SparqlRows | None = None
    boolean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMapEntry:
    """A capture in a TimeMap: the address of its memento, and what came then."""

    datetime: Time
    uri: str
    status: int
    outcome: Outcome
    media_type: str
    digest: str | None  # none of a redirect
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMapMementos:
    """All captures of a URL, and which are the first and the last."""

    list: Sequence[TimeMapEntry]
    first: TimeMapEntry | None = None
    last: TimeMapEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMapFormats:
    """The addresses of a TimeMap in each format."""

    link_format: str
    json_format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMapJson:
    """A TimeMap as JSON."""

    original_uri: str
    self: str
    timegate_uri: str
    timemap_uri: TimeMapFormats
    mementos: TimeMapMementos


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainFacets:
    """What is understood of a document, by the names of facets. Packages that are installed may add others."""

    language: str = ""
    names: Sequence[Mention] = ()
    metadata: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiInfo:
    """What is described, and of which version."""

    title: str
    version: str
    description: str
    license: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTag:
    """A group of operations."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDocument:
    """A description of an API, as OpenAPI 3.1 has it."""

    openapi: Literal["3.1.0"]
    info: ApiInfo
    tags: Sequence[ApiTag]
    paths: Mapping[str, Mapping[str, Mapping[str, Any]]]  # operations by path and method
    components: Mapping[str, Mapping[str, Mapping[str, Any]]]  # by kind and name
