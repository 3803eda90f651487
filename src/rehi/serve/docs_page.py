"""The page /docs: every operation with its parameters, a form or an example, and the types of the answers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from rehi.serve.openapi import ABOUT
from rehi.serve.reference import list_entries, list_problem_kinds, list_types
from rehi.serve.rendering import render


def show_docs(request: Request) -> Response:
    """Show all that can be asked, on one page."""
    values = {"about": ABOUT, "groups": list_entries(), "types": list_types(), "problems": list_problem_kinds()}
    return render(request, "docs.html", values)
