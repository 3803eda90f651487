"""The room that links: mentions become identities, and identities entities."""

from __future__ import annotations

from rehi.link.identity import link, resolve
from rehi.link.name import best_name, slug

__all__ = ["best_name", "link", "resolve", "slug"]
