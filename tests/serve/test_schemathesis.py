"""Schemathesis asks everything that the OpenAPI document promises, and much that it forbids."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehi.app import House
from rehi.serve import running
from rehi.service import Service
from rehi.settings import load_settings
from tests.conftest import Harvested

CONFIG = """
[checks.negative_data_rejection]
expected-statuses = ["4xx"]
"""  # 413 is a refusal too
UNTOLD = "positive_data_acceptance"  # no schema says that a text must be SPARQL, a moment or a policy


@pytest.fixture(scope="module")
def quiet_address(harvested: Harvested, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A copy of the harvested house that is only asked: whatever is ordered of it, it visits nothing."""
    folder = tmp_path_factory.mktemp("asked") / "data"
    shutil.copytree(harvested.settings.data, folder, symlinks=True)
    with House(load_settings(data=folder)) as house, running(house, Service(house), port=0) as address:
        yield address


def test_every_answer_is_as_the_openapi_document_says_and_none_is_a_fault(quiet_address: str, tmp_path: Path) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG, encoding="utf-8")
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config),
        "run", f"{quiet_address}openapi.json", "--exclude-checks", UNTOLD, "--phases", "coverage,fuzzing", "--max-examples", "5",
        "--seed", "1", "--request-timeout", "60", "--suppress-health-check", "all", "--warnings", "off",
        "--max-failures", "5", "--no-color",
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path)
    assert run.returncode == 0, "\n".join(line[:300] for line in run.stdout.splitlines()[-200:])
    assert "Tested: " in run.stdout
