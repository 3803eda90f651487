"""The bucket engine: sealed files become objects in an object store, and are read from there by range."""

from __future__ import annotations

from rehi.engines.bucket.shelf import BucketShelf, open_shelf

__all__ = ["BucketShelf", "open_shelf"]
