"""Welsh: finds weather stations, which are written as ``gorsaf Aberffin``."""

from __future__ import annotations

import re

from rehi.model.document import Mention

_STATION = re.compile(r"\bgorsaf (?P<name>[A-Z]\w+)")


class Welsh:
    """Names in Welsh texts."""

    code = "cy"

    def mentions(self, text: str) -> list[Mention]:
        """Return the stations in a text, in order."""
        return [
            Mention(
                kind="station",
                start=station.start("name"),
                end=station.end("name"),
                surface=station["name"],
                name=station["name"],
            )
            for station in _STATION.finditer(text)
        ]
