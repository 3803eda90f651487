"""The kinds of names that the built-in taggers can tell; a language of its own may know others."""

from __future__ import annotations

from enum import StrEnum


class NameKind(StrEnum):
    """What a name stands for. The value is the name of an EntityKind."""

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
