"""A redirect: the URL that an answer sends us to."""

from __future__ import annotations

from rehi.model.http import REDIRECTS
from rehi.model.visit import Answer

_MAX_LOCATION = 8_192  # characters; longer ones are mistakes or attacks


def redirect_target(url: str, answer: Answer) -> str:
    """Return the URL to which the answer to ``url`` redirects, absolute and without fragment; empty if it is no redirect."""
    if answer.status not in REDIRECTS:
        return ""
    location = answer.header("Location").strip()
    if not location or len(location) > _MAX_LOCATION:
        return ""
    import ada_url

    # Servers send raw UTF-8 here more often than Latin-1, and never both.
    as_bytes = location.encode("latin-1", "replace")
    try:
        location = as_bytes.decode("utf-8")
    except UnicodeDecodeError:
        location = as_bytes.decode("latin-1")
    try:
        target = ada_url.URL(location, base=url)
    except ValueError:
        return ""
    target.hash = ""
    return str(target.href)
