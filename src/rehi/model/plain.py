"""Plain values: what travels between rooms, in the words of JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any


def to_plain(value: object) -> Any:
    """Return a value as dictionaries, lists, strings and numbers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):  # opaque: shown as far as it is text
        return value.decode("ascii", "backslashreplace")
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
