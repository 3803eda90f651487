"""The page of the archive: what it holds, by type and host, and what was saved."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from rehi.operations.archive_stats import SHOWN, get_archive_stats
from rehi.operations.retention import keep_of
from rehi.serve.holdings_chart import PARTS, draw_bars
from rehi.serve.rendering import house_of, render


def show_archive(request: Request) -> Response:
    """Show the archive in numbers and pictures."""
    house = house_of(request)
    stats = get_archive_stats(house, limit=SHOWN)
    values = {
        "stats": stats,
        "held": stats.holdings,
        "types": draw_bars(stats.holdings.by_type),
        "hosts": draw_bars(stats.holdings.by_host),
        "parts": PARTS,
        "rules": [(source, keep_of(source)) for source in house.catalogue.sources() if source.keep],
    }
    return render(request, "archive.html", values)
