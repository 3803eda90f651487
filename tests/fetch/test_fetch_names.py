"""Names and their addresses: looked up without holding anybody up, and connected where they were checked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rehi.fetch.names import Names

_OWN_NETWORK = ["unshare", "--map-root-user", "--net", "--mount"]

Among = Callable[..., Any]


@pytest.fixture
def among(tmp_path: Path) -> Among:
    """Visits hosts in a network of their own, with a name service that lies."""
    possible = shutil.which("unshare") and subprocess.run([*_OWN_NETWORK, "true"], capture_output=True).returncode == 0
    if not possible:
        pytest.skip("this system gives nobody a network of their own")
    script = Path(__file__).with_name("name_service.py")

    def visit(*hosts: str) -> Any:
        command = [*_OWN_NETWORK, sys.executable, str(script), str(tmp_path), *hosts]
        done = subprocess.run(command, capture_output=True, text=True, timeout=40, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return json.loads(done.stdout)

    return visit


def test_silent_name_servers_hold_up_nobody_else(among: Among) -> None:
    silent = [f"silent{number}.example" for number in range(60)]
    told = among(*silent, "good.example", "well.example")
    for host in ("good.example", "well.example"):
        said, seconds = told["came"][host]
        assert said == "127.0.0.1"
        assert seconds < 1.5
    assert {told["came"][host][0] for host in silent} == {"TimedOut"}
    assert max(told["came"][host][1] for host in silent) < 4
    assert told["closing"] < 0.5


def test_the_address_that_was_checked_is_the_one_that_is_connected(among: Among) -> None:
    told = among("changing.example", "both.example")
    # Whoever asked twice, once to check and once to connect, would now be at the private address.
    assert told["came"]["changing.example"][0] == "127.0.0.1"
    assert told["asked"]["changing.example"] == 1
    assert told["came"]["both.example"][0] == "127.0.0.1"


def test_a_name_that_many_wait_for_is_looked_up_once() -> None:
    rung = threading.Event()
    names: Names[int] = Names(threads=4, ring=rung.set)
    for number in range(10):
        names.ask("maja.localhost", number, patience=5)
    assert names.waiting == 10
    assert rung.wait(5)
    assert sorted(names.answered()) == [(number, ("127.0.0.1", "::1")) for number in range(10)]
    assert names.known("maja.localhost") == ("127.0.0.1", "::1")
    assert names.known("other.localhost") is None
    assert names.waiting == 0
    assert names.patience() == float("inf")
    names.close()


def test_those_who_were_forgotten_get_no_answer() -> None:
    rung = threading.Event()
    names: Names[str] = Names(threads=1, ring=rung.set)
    names.ask("maja.localhost", "a", patience=5)
    names.ask("maja.localhost", "b", patience=5)
    assert names.forget(lambda who: who == "a") == ["a"]
    assert rung.wait(5)
    assert [who for who, _ in names.answered()] == ["b"]
    names.close()


def test_patience_ends_whether_the_name_is_found_or_not() -> None:
    names: Names[str] = Names(threads=0, ring=lambda: None)  # nobody looks anything up
    names.ask("maja.localhost", "a", patience=0.05)
    names.ask("maja.localhost", "b", patience=30)
    assert 0 < names.patience() <= 0.05
    assert names.answered() == []
    time.sleep(0.06)
    assert names.answered() == [("a", None)]
    assert 20 < names.patience() <= 30
    assert names.waiting == 1


@pytest.mark.parametrize("name", ["a" * 64 + ".invalid", "a..invalid", "x" * 300, "-.invalid", "\x01"])
def test_a_name_that_can_be_none_has_no_address(name: str) -> None:
    rung = threading.Event()
    names: Names[str] = Names(threads=1, ring=rung.set)
    names.ask(name, "a", patience=20)
    assert rung.wait(20)
    assert names.answered() == [("a", ())]
    names.close()
