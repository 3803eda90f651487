"""Rendering: pages from their templates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from rehi import __version__
from rehi.app import House
from rehi.builtin import load_all
from rehi.model import accept
from rehi.model.problem import Stage
from rehi.serve.gate import COOKIE
from rehi.serve.webpath import web_path


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=select_autoescape(default=True)
    )
    environment.filters["number"] = lambda value: f"{value:,}".replace(",", " ")
    environment.filters["bytes"] = _bytes
    environment.filters["span"] = _span
    environment.globals.update(
        version=__version__, stages=list(Stage), kinds=list(load_all("entity_kind").values()), web_path=web_path
    )
    return environment


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def _span(seconds: float) -> str:
    """Return a length of time in the largest unit of which it holds at least one."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"


def render(request: Request, template: str, values: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return a page from its template; everything in it is escaped."""
    gate = request.app.state.gate
    common = {"path": request.scope["path"], "query": request.query_params, "may_change": gate.may_change(request)}
    common["logged_in"] = gate.sessions.has(request.cookies.get(COOKIE, ""))
    html = _environment().get_template(template).render(**common, **values)
    return HTMLResponse(request.app.state.redactor.redact_bytes(html.encode(errors="replace")), status_code=status)


def wants_page(request: Request) -> bool:
    """Whether a person asks, by a browser: it names HTML as what it takes."""
    return accept.names("text/html", request.headers.get("accept", ""))


def house_of(request: Request) -> House:
    """Return the house that is served."""
    house: House = request.app.state.house
    return house
