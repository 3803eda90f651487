"""The room that links: annotations become identities."""

from __future__ import annotations

from rehi.link.identity import link
from rehi.link.slug import slug

__all__ = ["link", "slug"]
