"""Settings: what is shown of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehi.settings import describe_settings, load_settings


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("postgresql://rehi:s3same@db.example/rehi", "postgresql://rehi:***@db.example/rehi"),
        ("postgresql://rehi:a@b:c@db.example/rehi", "postgresql://rehi:***@db.example/rehi"),
        ("postgresql://db.example/rehi?user=a&password=s3same", "postgresql://db.example/rehi?user=a&password=***"),
        ("postgresql://rehi@db.example:5432/rehi", "postgresql://rehi@db.example:5432/rehi"),
    ],
)
def test_the_passwords_of_addresses_are_not_shown(tmp_path: Path, given: str, shown: str) -> None:
    rows = {row.name: row.value for row in describe_settings(load_settings(data=tmp_path, catalogue=given))}
    assert rows["catalogue"] == shown
