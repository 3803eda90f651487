"""Tests of the benchmarks' frame, and of the log benchmark in small."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def test_without_a_name_the_benchmarks_are_listed() -> None:
    done = run("-m", "bench")
    assert done.returncode == 0
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert "log" in names
    assert "result" not in names, "only modules that can be run are benchmarks"


def test_an_unknown_name_gets_one_sentence() -> None:
    done = run("-m", "bench", "nothing")
    assert done.returncode == 2
    assert done.stderr.startswith("there is no benchmark 'nothing'; there are: ")
    assert done.stderr.count("\n") == 1


def test_the_generated_log_is_always_the_same() -> None:
    code = "from bench.log_lines import generate; import hashlib; print(hashlib.sha256('\\n'.join(generate(5000)).encode()).hexdigest())"
    first, second = run("-c", code), run("-c", code)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    """The result of the log benchmark over a few lines."""
    done = run("-m", "bench", "log", "--lines", "20000")
    assert done.returncode in (0, 1), done.stderr
    word, name, numbers = done.stdout.splitlines()[-1].split(" ", 2)
    assert (word, name) == ("RESULT", "log")
    result: dict[str, Any] = json.loads(numbers)
    return result


def test_the_last_line_holds_the_result(small: dict[str, Any]) -> None:
    assert small.keys() >= {"ok", "target", "ours", "peers", "ratio"}


def test_every_line_of_the_log_is_accounted_for(small: dict[str, Any]) -> None:
    stored = small["ours"]["sqlite"]
    assert stored["accepted"] + stored["rejected"] + stored["malformed"] == 20_000
    assert min(stored["accepted"], stored["rejected"], stored["malformed"]) > 0


def test_both_ways_store_the_same_rows(small: dict[str, Any]) -> None:
    assert small["ours"]["sqlite"]["rows"] == small["peers"]["plain sqlite"]["rows"] > 0


def test_memory_stays_far_under_the_limit(small: dict[str, Any]) -> None:
    assert small["ours"]["sqlite"]["peak_mb"] < 300
