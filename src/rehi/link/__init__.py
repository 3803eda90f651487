"""The room that links: mentions become identities, and identities entities."""

from __future__ import annotations

from rehi.link.identity import link
from rehi.link.name import best_name
from rehi.link.resolve import resolve
from rehi.link.slug import slug

__all__ = ["best_name", "link", "resolve", "slug"]
