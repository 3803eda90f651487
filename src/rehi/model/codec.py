"""The codec of what is known of a document: facets' values with their versions, parts and tables, as JSON."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from rehi.builtin import load_working
from rehi.model.document import Part, TableDialect, TableShape

_log = logging.getLogger(__name__)


def encode_facet(facet: Any, value: Any) -> bytes:
    """Return a facet's value as a JSON object with its version; TypeError if the facet gives what JSON can't hold."""
    return to_json({"version": facet.version, "value": facet.encode(value)})


def decode_facets(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of facets by name.

    One that is not installed any more, or can't read what another version of it has written, is left out: what it wrote
    stays in its record, and all else can be read.
    """
    facets: dict[str, Any] = {}
    for name, item in written.items():
        if (facet := load_working("facet", name)) is None:
            continue
        try:
            facets[name] = facet.decode(item["value"], item["version"])
        except Exception:  # an outsider's codec may raise whatever it likes
            _log.warning(
                "what the facet %s has written can't be read by the one that is installed", name, exc_info=True
            )
    return facets


def to_part(fields: Mapping[str, Any]) -> Part:
    """Return the part that was written; fields that a later version has added are passed over."""
    return Part(**_known(fields, Part))


def to_table(fields: Mapping[str, Any]) -> TableShape:
    """Return the table that was written; fields that a later version has added are passed over."""
    dialect = fields.get("dialect")
    known = _known(fields, TableShape) | {
        "header": tuple(fields.get("header", ())),
        "dialect": None if dialect is None else TableDialect(**_known(dialect, TableDialect)),
    }
    return TableShape(**known)


def _known(fields: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in kind.__dataclass_fields__}  # type: ignore[attr-defined]


def to_json(value: Any) -> bytes:
    """Return a value as JSON; half of a surrogate pair, which can't be encoded, becomes a question mark."""
    import orjson

    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_encodable(value))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value
