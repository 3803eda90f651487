"""Identifiers: the IRIs that are minted under the public base, and those of harvested URLs."""

from __future__ import annotations

import re
from urllib.parse import quote

from pyoxigraph import NamedNode

from rehi.model.entity import EntityKey

# All but what RFC 3987 allows in an IRI; "%" and "#" depend on what follows or precedes them. Private
# characters are allowed in queries only; here they are encoded everywhere.
_FORBIDDEN = re.compile(
    r"[^A-Za-z0-9\-._~:/?@!$&'()*+,;=%#\[\]"
    "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    + "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
    + "\U000e1000-\U000efffd]"
)
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://[^/?#]*")  # where brackets mean an IPv6 address


def document_iri(url: str) -> NamedNode | None:
    """Return the IRI of a harvested URL, with forbidden characters percent-encoded; None if it can't be an IRI."""
    clean = _LONE_PERCENT.sub("%25", _FORBIDDEN.sub(_encode, url))
    host = _HOST.match(clean)
    end = host.end() if host else 0
    before, mark, fragment = clean[end:].partition("#")
    path = before.replace("[", "%5B").replace("]", "%5D")
    fragment = fragment.replace("[", "%5B").replace("]", "%5D").replace("#", "%23")
    try:
        return NamedNode(clean[:end] + path + mark + fragment)
    except ValueError:  # no scheme, a port that is no number, an address that is none
        return None


def _encode(match: re.Match[str]) -> str:
    return quote(match[0].encode("utf-8", "replace"), safe="")


def entity_iri(base: str, key: EntityKey) -> NamedNode:
    """Return the IRI of an entity: ``{base}/entity/person/katrin-paio``, and ``…/katrin-paio/2`` for the second of that name."""
    return mint(base, "entity", key.kind, *key.path.split("/"))


def entities_graph(base: str) -> NamedNode:
    """Return the IRI of the graph that describes each entity once."""
    return mint(base, "graph", "entities")


def resource_graph(base: str, resource_id: int) -> NamedNode:
    """Return the IRI of the graph of one document: its metadata, its versions and the entities that it mentions."""
    return mint(base, "graph", "resource", str(resource_id))


def version_iri(base: str, resource_id: int, number: int) -> NamedNode:
    """Return the IRI of a version: ``{base}/version/8127/3``."""
    return mint(base, "version", str(resource_id), str(number))


def mint(base: str, *segments: str) -> NamedNode:
    """Return an identifier of our own: the public base, followed by these segments of a path."""
    path = "/".join(_FORBIDDEN.sub(_encode, segment) for segment in segments)
    return NamedNode(f"{base.rstrip('/')}/{path}")
