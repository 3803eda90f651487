"""What the extract room's tests share."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rehi.extract import extract
from rehi.model.document import Document

Read = Callable[..., Document]


@pytest.fixture
def read() -> Read:
    """Read a body as the pipeline would: text or bytes, with what the server and the URL say."""

    def _read(
        body: str | bytes,
        media_type: str = "",
        *,
        url: str = "http://www.rehemaa.test/leht",
        max_text: int = 1_000_000,
    ) -> Document:
        raw = body.encode() if isinstance(body, str) else body
        return extract(io.BytesIO(raw), url=url, media_type=media_type, size=len(raw), max_text=max_text)

    return _read
