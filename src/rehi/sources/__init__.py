"""The sources room: discovers, in what a source says, which resources there are."""

from __future__ import annotations

from rehi.sources.kind import Awaited, Discovered, Fetch, Fetched, Recognition, SourceKind, SourceSample
from rehi.sources.lines import Lines, open_lines
from rehi.sources.recognition import recognise, recognise_file, sample_file
from rehi.sources.urls import host_meant, is_visitable, normalise

__all__ = [
    "Awaited",
    "Discovered",
    "Fetch",
    "Fetched",
    "Lines",
    "Recognition",
    "SourceKind",
    "SourceSample",
    "host_meant",
    "is_visitable",
    "normalise",
    "open_lines",
    "recognise",
    "recognise_file",
    "sample_file",
]  # fmt: skip
