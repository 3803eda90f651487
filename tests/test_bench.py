"""Tests of the benchmarks' frame, and of the log benchmark in small."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import find_benches
from bench.harvest import judge as judge_harvest
from bench.query import run as run_query
from bench.query_graph import changes
from bench.result import Options, Result, name_missed
from bench.walk import REVIEW, PageWalk
from bench.walk import judge as judge_walk
from eval.__main__ import NAMES as EVALUATIONS
from rehi.builtin import plugins
from rehi.frontier.policy import parse_policy, share_of

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
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
    done = run("-m", "bench", "log", "--lines", "4000")
    assert done.returncode in (0, 1), done.stderr
    word, name, numbers = done.stdout.splitlines()[-1].split(" ", 2)
    assert (word, name) == ("RESULT", "log")
    result: dict[str, Any] = json.loads(numbers)
    return result


def test_the_last_line_holds_the_result(small: dict[str, Any]) -> None:
    assert small.keys() >= {"ok", "target", "settings", "missed", "ours", "peers", "ratio"}
    assert small["ok"] == (not small["missed"])


def test_every_line_of_the_log_is_accounted_for(small: dict[str, Any]) -> None:
    stored = small["ours"]["sqlite"]
    assert stored["accepted"] + stored["rejected"] + stored["malformed"] == 4_000
    assert min(stored["accepted"], stored["rejected"], stored["malformed"]) > 0


def test_both_ways_store_the_same_rows_on_every_engine(small: dict[str, Any]) -> None:
    for engine in small["ours"].keys() - {"parser"}:
        assert small["ours"][engine]["rows"] == small["peers"][f"plain {engine}"]["rows"] > 0, engine


def test_a_result_is_good_when_nothing_was_missed() -> None:
    numbers: dict[str, Any] = {"name": "x", "target": "t", "settings": "s", "ours": {}, "peers": {}, "ratio": 1.0}
    assert Result(**numbers, missed=name_missed({"fast": True})).ok
    slow = Result(**numbers, missed=name_missed({"fast": True, "2 times, in place of 3": False}))
    assert not slow.ok
    assert json.loads(slow.line().removeprefix("RESULT x "))["missed"] == ["2 times, in place of 3"]


def test_every_benchmark_and_evaluation_is_on_the_page_of_the_docs() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    benches, evaluations = page.split("| `make eval NAME=`")
    for names, part in ((find_benches(ROOT / "bench"), benches), (EVALUATIONS, evaluations)):
        assert sorted(re.findall(r"^\| `([a-z]+)` \|", part, re.MULTILINE)) == sorted(names)


def test_the_statements_of_the_query_benchmark_are_the_same_each_time_and_as_many_as_asked_for() -> None:
    first, second = (list(changes(3_000, "http://x.test")) for _ in range(2))
    assert first == second
    assert 3_000 <= sum(len(change.triples) for change in first) < 3_100
    triples = [(change.graph, triple) for change in first for triple in change.triples]
    assert len(set(triples)) == len(triples)


def test_the_thesis_questions_have_the_same_answers_from_all(capsys: pytest.CaptureFixture[str]) -> None:
    result = run_query(Options(lines=2_000))
    assert any("in place of 224,198" in part for part in result.missed), "a small graph is no proof"
    assert not [part for part in result.missed if "rows by who was asked" in part]
    assert result.peers.keys() == {"RDFLib", "pyoxigraph"}


def test_a_harvest_must_be_ten_times_as_cheap_over_the_same_documents() -> None:
    ours, peer = {"documents": 9.0, "cpu_ms_per_document": 1.0}, {"documents": 9.0, "cpu_ms_per_document": 10.0}
    assert judge_harvest(ours, peer, {}).ok
    assert not judge_harvest(ours, peer | {"cpu_ms_per_document": 9.9}, {}).ok
    assert not judge_harvest(ours, peer | {"documents": 8.0}, {}).ok


def test_the_walk_sees_each_function_once_with_its_room() -> None:
    walk = PageWalk()
    previous = sys.getprofile()
    sys.setprofile(walk.see)
    try:
        for _ in range(2):
            share_of("http://a.test/")
            parse_policy("adaptive")
            plugins()
    finally:
        sys.setprofile(previous)
    assert walk.rooms[0] == "frontier"
    assert "builtin" in walk.rooms
    counts = walk.numbers()
    assert counts["functions"] == len(walk.rooms) >= 3
    assert counts["changes_of_room"] >= 1


def test_the_walk_must_be_shorter_than_the_reviews() -> None:
    shorter = {what: number - 1 for what, number in REVIEW.items()}
    assert judge_walk(shorter).ok
    assert not judge_walk({**shorter, "modules": REVIEW["modules"]}).ok


def test_memory_stays_far_under_the_limit(small: dict[str, Any]) -> None:
    assert small["ours"]["sqlite"]["peak_mb"] < 300
