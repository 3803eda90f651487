"""DNS lookups: none holds up another, and what is connected is the address that was checked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rehi.fetch.dns import DnsResolver
from rehi.testing.waiting import PATIENCE, wait_until

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
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return json.loads(done.stdout)

    return visit


def test_silent_name_servers_hold_up_nobody_else(among: Among) -> None:
    silent = [f"silent{number}.example" for number in range(60)]
    report = among(*silent, "good.example", "well.example")
    for host in ("good.example", "well.example"):
        outcome, seconds = report["visits"][host]
        assert outcome == "127.0.0.1"
        assert seconds < min(report["visits"][host][1] for host in silent)  # before the first of those was given up
    assert {report["visits"][host][0] for host in silent} == {"TimedOut"}
    assert max(report["visits"][host][1] for host in silent) < PATIENCE / 4
    assert report["closing"] < PATIENCE / 4


def test_the_address_that_was_checked_is_the_one_that_is_connected(among: Among) -> None:
    report = among("changing.example", "both.example")
    # Whoever asked twice, once to check and once to connect, would now be at the private address.
    assert report["visits"]["changing.example"][0] == "127.0.0.1"
    assert report["asked"]["changing.example"] == 1
    assert report["visits"]["both.example"][0] == "127.0.0.1"


def test_a_name_that_many_wait_for_is_looked_up_once() -> None:
    woken = threading.Event()
    resolver: DnsResolver[int] = DnsResolver(threads=4, wake=woken.set)
    for number in range(10):
        resolver.request("maja.localhost", number, timeout=PATIENCE)
    assert resolver.waiting == 10
    assert woken.wait(PATIENCE)
    assert sorted(resolver.answered()) == [(number, ("127.0.0.1", "::1")) for number in range(10)]
    assert resolver.cached("maja.localhost") == ("127.0.0.1", "::1")
    assert resolver.cached("other.localhost") is None
    assert resolver.waiting == 0
    assert resolver.seconds_to_timeout() == float("inf")
    resolver.close()


def test_lookups_that_were_cancelled_get_no_answer() -> None:
    woken = threading.Event()
    resolver: DnsResolver[str] = DnsResolver(threads=1, wake=woken.set)
    resolver.request("maja.localhost", "a", timeout=PATIENCE)
    resolver.request("maja.localhost", "b", timeout=PATIENCE)
    assert resolver.cancel(lambda waiter: waiter == "a") == ["a"]
    assert woken.wait(PATIENCE)
    assert [waiter for waiter, _ in resolver.answered()] == ["b"]
    resolver.close()


def test_a_lookup_times_out_whether_the_name_is_found_or_not() -> None:
    resolver: DnsResolver[str] = DnsResolver(threads=0, wake=lambda: None)  # nobody looks anything up
    resolver.request("maja.localhost", "a", timeout=0)
    resolver.request("maja.localhost", "b", timeout=PATIENCE)
    assert resolver.seconds_to_timeout() <= 0
    assert wait_until(resolver.answered, what="the time is over") == [("a", None)]
    assert 0 < resolver.seconds_to_timeout() <= PATIENCE
    assert resolver.answered() == []
    assert resolver.waiting == 1


@pytest.mark.parametrize("name", ["a" * 64 + ".invalid", "a..invalid", "x" * 300, "-.invalid", "\x01"])
def test_a_name_that_can_be_none_has_no_address(name: str) -> None:
    woken = threading.Event()
    resolver: DnsResolver[str] = DnsResolver(threads=1, wake=woken.set)
    resolver.request(name, "a", timeout=PATIENCE)
    assert woken.wait(PATIENCE)
    assert resolver.answered() == [("a", ())]
    resolver.close()
