"""Keys of entities, as they stand in addresses."""

from __future__ import annotations

import pytest

from rehi.model.entity import EntityKey, parse_key


@pytest.mark.parametrize("sense", [1, 2, 10, 4711])
def test_a_key_is_read_from_its_path(sense: int) -> None:
    key = EntityKey("person", "katrin-paio", sense)
    assert parse_key("person", key.path) == key


@pytest.mark.parametrize(
    "path", ["katrin-paio", "katrin-paio-2", "2", "katrin/1", "katrin/02", "katrin/0", "katrin/x", "/2"]
)
def test_what_is_no_sense_belongs_to_the_slug(path: str) -> None:
    assert parse_key("person", path) == EntityKey("person", path)
