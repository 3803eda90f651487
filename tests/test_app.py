"""The wiring: one worker for each data folder, and only one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehi.app import House, lock_folder
from rehi.errors import DataFolderBusy, SettingsError
from rehi.service import Service
from rehi.settings import load_settings


def test_a_folder_keeps_its_workers_name_and_no_two_share_one(tmp_path: Path) -> None:
    names = []
    for folder in ("one", "one", "two"):
        with House(load_settings(data=tmp_path / folder)) as house:
            names.append(house.worker)
    assert names[0] == names[1] != names[2]
    assert not [path for path in (tmp_path / "one").iterdir() if path.name.startswith(".")]


def test_a_service_in_a_busy_folder_says_so_and_does_not_start(tmp_path: Path) -> None:
    with House(load_settings(data=tmp_path)) as house, lock_folder(tmp_path), pytest.raises(DataFolderBusy):
        Service(house).start()


def test_an_engine_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with House(load_settings(data=tmp_path, catalogue="mysql://x")) as house, pytest.raises(SettingsError) as caught:
        _ = house.catalogue
    assert "sqlite" in str(caught.value)
