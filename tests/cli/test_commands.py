"""The command line does what its help says, for people and for programs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rehi.app import lock_folder
from rehi.cli import COMMANDS
from rehi.cli.archive import SUBCOMMANDS
from rehi.testing.waiting import PATIENCE
from tests.cli import command_line
from tests.conftest import Harvested

Run = Callable[..., subprocess.CompletedProcess[str]]


def rehi(*words: str, data: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    folder = ["--data", str(data)] if data else []
    return subprocess.run(
        [sys.executable, "-m", "rehi", *folder, *words],
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture(scope="module")
def run(harvested: Harvested) -> Run:
    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return command_line.rehi(*words, data=harvested.settings.data, **environment)

    return run


def test_help_costs_next_to_nothing() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = rehi("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert all(name in result.stdout for name in COMMANDS)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.4


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_and_json(name: str) -> None:
    result = command_line.rehi(name, "--help")
    assert result.returncode == 0
    assert f"rehi {name}" in result.stdout
    assert "Examples:" in result.stdout
    assert "--json" in result.stdout or "COMMAND" in result.stdout


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_so_has_every_command_of_the_archive(name: str) -> None:
    result = command_line.rehi("archive", name, "--help")
    assert result.returncode == 0
    assert all(said in result.stdout for said in ("Examples:", f"rehi archive {name}", "--json"))


def test_a_query_prints_a_table_for_people(run: Run) -> None:
    result = run("query", "SELECT ?name WHERE { ?who a nerd:Person ; foaf:name ?name } ORDER BY ?name LIMIT 3")
    assert result.returncode == 0
    assert len(result.stdout.strip().splitlines()) == 5
    assert result.stderr.strip().endswith("ms")


@pytest.mark.parametrize(("form", "begins"), [("json", "{"), ("csv", "name\r\n"), ("tsv", "?name\n"), ("xml", "<?xml")])
def test_a_query_from_a_file_prints_every_format(run: Run, tmp_path: Path, form: str, begins: str) -> None:
    file = tmp_path / "q.rq"
    file.write_text("SELECT ?name WHERE { ?who foaf:name ?name } LIMIT 3", encoding="utf-8")
    assert run("query", "-f", str(file), "--format", form).stdout.startswith(begins)


def test_an_ask_is_answered_with_yes_or_no(run: Run) -> None:
    assert run("query", "ASK { ?s a nerd:Person }").stdout.strip() == "yes"


def test_a_name_is_found_with_its_pages(run: Run, harvested: Harvested) -> None:
    name = json.loads(run("query", "SELECT ?n WHERE { ?w a nerd:Place ; foaf:name ?n } LIMIT 1", "--json").stdout)
    assert "results" in name
    found = json.loads(run("find", "tal", "--json").stdout)
    assert any(row["entity"]["name"] == "Tallinn" and row["pages"] for row in found)
    assert run("find", "zzzzqqq").returncode == 1


def test_stats_problems_and_settings_speak_json(run: Run) -> None:
    stats = json.loads(run("stats", "--json").stdout)
    assert stats["totals"]["documents"] > 100
    problems = json.loads(run("problems", "--stage", "fetch", "--json").stdout)
    assert {row["stage"] for row in problems["problems"]} == {"fetch"}
    settings = json.loads(run("settings", "--json", REHI_FETCH__DELAY="7").stdout)
    assert {row["name"]: row["value"] for row in settings}["fetch.delay"] == 7


def test_the_same_in_words(run: Run) -> None:
    for command in ("stats", "problems", "settings"):
        result = run(command)
        assert result.returncode == 0
        assert len(result.stdout.splitlines()) > 5


def test_the_doctor_finds_everything_well(run: Run) -> None:
    result = run("doctor", "--json", REHI_SERVE__PORT="0")
    assert result.returncode == 0, result.stdout
    assert {check["what"] for check in json.loads(result.stdout)} >= {"catalogue", "graph", "disk", "port", "fetch"}


def test_the_doctor_says_what_to_do(tmp_path: Path) -> None:
    result = command_line.rehi("doctor", "--json", data=tmp_path, REHI_CATALOGUE="postgresql://127.0.0.1:1/none")
    assert result.returncode == 1
    (catalogue,) = [check for check in json.loads(result.stdout) if check["what"] == "catalogue"]
    assert not catalogue["ok"]
    assert catalogue["cure"]


def test_a_harvest_with_nothing_due_says_what_to_do(tmp_path: Path) -> None:
    result = rehi("harvest", data=tmp_path)
    assert result.returncode == 0
    assert "rehi add" in result.stdout


def test_a_source_waits_its_turn_while_another_is_taken_in(tmp_path: Path) -> None:
    source = tmp_path / "list.txt"
    source.write_text("http://a.test/\n", encoding="utf-8")
    (tmp_path / "d").mkdir()
    with lock_folder(tmp_path / "d", name="intake.lock"):
        result = rehi("add", str(source), data=tmp_path / "d")  # the lock is kept from another process
    assert result.returncode == 0
    assert "after it" in result.stdout
    assert json.loads(command_line.rehi("add", str(source), "--json", data=tmp_path / "d").stdout)["state"] == "done"


def test_a_source_that_is_done_is_not_read_twice(tmp_path: Path) -> None:
    source = tmp_path / "list.txt"
    source.write_text("http://a.test/\nhttp://b.test/\n", encoding="utf-8")
    first = json.loads(command_line.rehi("add", str(source), "--json", data=tmp_path / "d").stdout)
    second = json.loads(command_line.rehi("add", str(source), "--json", data=tmp_path / "d").stdout)
    third = json.loads(command_line.rehi("add", str(source), "--again", "--json", data=tmp_path / "d").stdout)
    assert first == second
    assert first["counts"]["accepted"] == 2
    assert third["id"] != first["id"]
    assert third["counts"]["lines"] == 2
