"""The codec of what is known of a document, as JSON: its parts and tables, and whatever facets give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehi.model.document import Part, TableDialect, TableShape


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
