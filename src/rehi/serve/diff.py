"""The page of a difference between two versions, and of the names that changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from rehi.model.version import Version
from rehi.operations.diff import Key, New, Old, get_diff, get_name_diff
from rehi.operations.diff.result import DiffCounts, VersionDiff
from rehi.operations.parameters import Url
from rehi.operations.versions import history
from rehi.serve.rendering import house_of, render

SHOWN = 500  # lines, rows or values on the page
COLUMNS = 12  # of a row on the page
OFFERED = 500  # versions to choose from


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffBar:
    """A part of the picture, in percent of its width."""

    part: str
    x: float
    width: float
    count: int


def draw_bar(tally: DiffCounts) -> list[DiffBar]:
    """Return the parts of a bar that shows what is different; nothing that is there is too thin to be seen."""
    parts = [("added", tally.added), ("changed", tally.changed), ("removed", tally.removed)]
    shown = [(part, count) for part, count in parts if count]
    least = 2.0
    bars, x = [], 0.0
    for part, count in shown:
        width = least + (100.0 - least * len(shown)) * count / tally.different
        bars.append(DiffBar(part=part, x=round(x, 2), width=round(width, 2), count=count))
        x += width
    return bars


def show_diff(
    request: Request,
    *,
    url: Url = "",
    old: Old = "",
    new: New = "",
    key: Key = "",
    names: bool = False,
    blame: bool = False,
) -> Response:
    """Show the difference, with a form to choose other versions."""
    if not url:
        return render(request, "diff.html", {"url": "", "diff": None})
    house = house_of(request)
    diff = get_diff(house, url=url, old=old, new=new, key=key, names=names, blame=blame, limit=SHOWN)
    versions = history(house, url)
    asked = {"url": url, "from": old, "to": new}
    values = {
        "url": url,
        "diff": diff,
        "versions": _offered(versions, diff),
        "more_versions": max(0, len(versions) - OFFERED),
        "bars": draw_bar(diff.tally) if diff.tally else [],
        "key": key,
        "blame_asked": diff.blame is not None,
        "names_at": "/diff/names?" + _write_query(asked),
        "api_at": "/api/diff?" + _write_query(asked | {"key": key}),
        "column_limit": COLUMNS,
    }
    return render(request, "diff.html", values)


def _write_query(parameters: Mapping[str, str]) -> str:
    return urlencode({name: text for name, text in parameters.items() if text})


def _offered(versions: list[Version], diff: VersionDiff) -> list[Version]:
    """Return the newest versions, and the two that are compared, the newest first."""
    chosen = {diff.old.number, diff.new.number}
    newest = {version.number for version in versions[-OFFERED:]}
    return [version for version in reversed(versions) if version.number in chosen | newest]


def show_names(request: Request, url: str, old: str, new: str) -> Response:
    """Show the names that appeared or vanished; the page of the difference fetches it, since it takes a moment."""
    names, notes = get_name_diff(house_of(request), url=url, old=old, new=new)
    return render(request, "diff_names.html", {"url": url, "names": names, "notes": notes})
