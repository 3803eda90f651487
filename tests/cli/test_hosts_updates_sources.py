"""Hosts, updates and sources on the command line: what they show, what they order, and what they refuse."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehi.app import House, lock_folder
from rehi.model.listing import Page
from rehi.model.update import RUNNING, open_update
from rehi.service import Service
from rehi.settings import Settings
from rehi.testing.waiting import PATIENCE, wait_until
from rehi.testing.world import WorldServer
from tests.cli.command_line import rehi
from tests.cli.test_bad_input import said
from tests.cli.test_commands import rehi as elsewhere
from tests.conftest import Harvested
from tests.serve.slow_web import SLOW, at_pace, slow_settings, slow_urls, slow_web, write_config

HOST = "www.rehemaa.test"
PAGES = 7


@pytest.fixture(scope="module")
def data(harvested: Harvested) -> Path:
    return harvested.settings.data


def test_the_list_has_those_in_trouble_first(data: Path) -> None:
    listed = json.loads(rehi("host", "--json", "--limit", "1000", data=data).stdout)
    assert listed["total"] == len(listed["hosts"]) > 10
    troubled = [row["failures"] > 0 or row["strain"] > 1 for row in listed["hosts"]]
    assert troubled == sorted(troubled, reverse=True)
    assert any(troubled)
    words = rehi("host", "--like", "suletud", data=data).stdout
    assert "suletud.rehemaa.test" in words
    assert "nobody answers" in words or "it failed 1 time in a row" in words
    assert "more; raise --limit" in rehi("host", "--limit", "1", data=data).stdout
    assert "No host has qqq in its name." in rehi("host", "--like", "qqq", data=data).stdout


def test_all_that_is_known_of_one_host_in_words(data: Path) -> None:
    result = rehi("host", HOST.upper(), data=data)
    assert result.returncode == 0, result.stderr
    for words in (
        f"http://{HOST}: ",
        "pause",
        "connections",
        "always",
        "verified",
        "127.0.0.1",
        "Disallow: /sisemine/",
    ):
        assert words in result.stdout
    assert "Note: " in result.stdout  # every host of the practice web is at one address
    same = rehi("host", f"http://{HOST}/some/page", "--json", data=data)
    (report,) = json.loads(same.stdout)
    assert report["facts"]["row"]["origin"] == f"http://{HOST}"


def test_secrets_of_a_host_are_never_shown(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "rehi.toml"
    config.write_text(
        f'[[fetch.hosts]]\nmatch = "{HOST}"\nverify_tls = false\nproxy = "http://me:hush@127.0.0.1:1"\n'
        '[fetch.hosts.headers]\nX-Api-Key = "hush"\n',
        encoding="utf-8",
    )
    for words in (("host", HOST), ("host", HOST, "--json"), ("settings",), ("settings", "--json")):
        result = rehi("--config", str(config), *words, REHI_DATA=str(data))
        assert result.returncode == 0, result.stderr
        assert "hush" not in result.stdout + result.stderr
    shown = rehi("--config", str(config), "host", HOST, REHI_DATA=str(data)).stdout
    assert "X-Api-Key" in shown
    assert "NOT verified" in shown


def test_orders_are_given_and_taken_back(data: Path) -> None:
    ordered = rehi("host", HOST, "--delay", "2.5", "--connections", "2", "--hours", "20:00-06:00", data=data).stdout
    assert "2.5 s by order" in ordered
    assert "2 (by order)" in ordered
    assert "20:00-06:00 (by order)" in ordered
    back = rehi("host", HOST, "--delay", "0", "--connections", "0", "--hours", "", data=data).stdout
    assert "by order" not in back


def test_a_host_is_left_alone_with_a_reason_until_it_is_not(data: Path) -> None:
    left = rehi("host", HOST, "--leave-alone", "--why", "they asked us to", data=data).stdout
    assert f"http://{HOST}: left alone by order: they asked us to" in left
    assert "left-alone" in rehi("host", "--like", HOST, data=data).stdout
    assert "1 host left alone." in rehi("update", "--dry-run", data=data).stdout
    (again,) = json.loads(rehi("host", HOST, "--visit-again", "--json", data=data).stdout)
    assert not again["facts"]["orders"]["left_alone"]
    assert again["facts"]["orders"]["why"] == ""
    assert not again["state"].startswith("left alone")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("host", "nowhere.test"), 1, "rehi: there is no host nowhere.test"),
        (("host", "not a host"), 1, "rehi: 'not a host' is no host's name"),
        (("host", "ftp://a.test/"), 1, "rehi: 'ftp://a.test/' is no host's name"),
        (("host", HOST, "--delay", "-1"), 1, "rehi: a delay of -1 seconds: give 0 to 86,400"),
        (("host", HOST, "--delay", "nan"), 1, "rehi: a delay of nan seconds: give 0 to 86,400"),
        (("host", HOST, "--connections", "99"), 1, "rehi: 99 connections: give 0 to 32"),
        (("host", HOST, "--hours", "tonight"), 1, "rehi: 'tonight' are no hours; write them as in 20:00-06:00, or "
         "mon-fri 20:00-06:00, sat-sun 00:00-24:00"),
        (("update", "--host", "nowhere.test"), 1, "rehi: there is no host nowhere.test"),
        (("update", "--host", "HTTP://Nowhere.test/x"), 1, "rehi: there is no host http://nowhere.test"),
        (("update", "--host", "a b"), 1, "rehi: 'a b' is no host's name"),
        (("update", "--url", "http://a.test/"), 1, None),
        (("update", "--source", "77"), 1, None),
        (("source", "77"), 1, None),
        (("source", "1", "--policy", "fixed 99 99 * * *"), 1, None),
        (("source", "1", "--policy", "now and then"), 1, None),
        (("update", "--source", "77", "--dry-run"), 1, None),
        (("update", "--host", "nowhere.test", "--dry-run"), 1, "rehi: there is no host nowhere.test"),
    ],
)  # fmt: skip
def test_what_can_not_be_done_is_one_sentence(
    data: Path, words: tuple[str, ...], code: int, sentence: str | None
) -> None:
    result = rehi(*words, data=data)
    assert said(result) == sentence or sentence is None
    assert result.returncode == code


@pytest.mark.parametrize(
    "words",
    [
        ("host", "--delay", "3"),
        ("host", HOST, "--why", "x"),
        ("host", HOST, "--like", "x"),
        ("host", HOST, "--connections", "many"),
        ("update", "--host", "a.test", "--url", "http://a.test/"),
        ("source", "--policy", "adaptive"),
        ("source", "0"),
        ("source", "1", "--priority", "utmost"),
        ("add", "x", "--priority", "utmost"),
    ],
)
def test_wrong_usage_is_said_and_exits_with_2(data: Path, words: tuple[str, ...]) -> None:
    result = rehi(*words, data=data)
    assert result.returncode == 2
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr


def test_problems_say_since_when(data: Path) -> None:
    words = rehi("problems", "--limit", "3", data=data).stdout
    assert "first (UTC)" in words
    assert "last (UTC)" in words


def test_problems_are_counted_by_class_and_listed_by_it(data: Path) -> None:
    found = json.loads(rehi("problems", "--limit", "1000", "--json", data=data).stdout)
    counted = {(one["stage"], one["code"]): one["problems"] for one in found["classes"]}
    assert len(counted) > 8
    assert Counter((one["stage"], one["code"]) for one in found["problems"]) == counted
    assert [one["problems"] for one in found["classes"]] == sorted(counted.values(), reverse=True)
    for row in found["problems"]:
        assert row["code"]
        assert row["count"] >= 1
        assert row["first_at"] <= row["last_at"]
        assert row["next_step"] in {"retry", "skip", "quarantine"}
        assert row["advice"]
    slow = json.loads(rehi("problems", "--code", "timed-out", "--json", data=data).stdout)
    assert slow["total"] == counted["fetch", "timed-out"] == len(slow["problems"])
    assert {row["code"] for row in slow["problems"]} == {"timed-out"}
    words = rehi("problems", "--code", "Timed-Out", "--limit", "1", data=data).stdout
    assert words.index("how many") < words.index("where")
    assert "bad-status" not in words
    assert "Raise fetch.timeout" in words
    assert f"{slow['total'] - 1} more; raise --limit" in words


def test_a_class_that_there_is_not_is_said_with_those_that_there_are(data: Path, tmp_path: Path) -> None:
    words = rehi("problems", "--code", "timed\x1bout", data=data).stdout
    assert words.startswith("No problems of the class timed\ufffdout; there are ")
    assert "timed-out" in words
    assert rehi("problems", "--stage", "graph", data=data).stdout == "No problems.\n"
    assert rehi("problems", "--code", "timed-out", data=tmp_path).stdout == "No problems.\n"


def test_a_source_has_a_policy_and_a_priority(tmp_path: Path) -> None:
    log, folder = tmp_path / "list.txt", tmp_path / "d"
    log.write_text("http://a.test/\nhttp://b.test/\n", encoding="utf-8")
    assert "no source yet" in rehi("source", data=folder).stdout
    wrong = rehi("add", str(log), "--policy", "fixed never", data=folder)
    assert said(wrong)
    assert json.loads(rehi("source", "--json", data=folder).stdout) == []
    assert rehi("add", str(log), "--policy", "fixed 0 1 1 * *", "--priority", "low", data=folder).returncode == 0
    (added,) = json.loads(rehi("source", "--json", data=folder).stdout)
    assert (added["policy"], added["weight"]) == ("fixed 0 1 1 * *", 0.25)
    changed = json.loads(rehi("source", "1", "--policy", "", "--priority", "high", "--json", data=folder).stdout)
    assert (changed["policy"], changed["weight"]) == ("", 4.0)
    words = rehi("source", "1", data=folder).stdout
    assert "adaptive (the setting)" in words
    assert "high" in words


def test_the_table_of_updates(data: Path, harvested: Harvested) -> None:
    listed = json.loads(rehi("update", "--list", "--json", data=data).stdout)
    first = listed["updates"][-1]
    assert (first["kind"], first["state"]) == ("harvest", "done")
    assert first["counts"]["visited"] >= len(harvested.world.documents)
    assert first["seconds"]
    assert "seconds by stage" in rehi("update", "--list", data=data).stdout


def test_a_dry_run_says_how_much_and_how_long(data: Path) -> None:
    everything = json.loads(rehi("update", "--dry-run", "--json", data=data).stdout)
    assert everything["pages"] > 100
    assert everything["hosts"] > 10
    by_source = json.loads(rehi("update", "--dry-run", "--source", "1", "--json", data=data).stdout)
    assert 0 < by_source["pages"] <= everything["pages"]
    rehi("host", HOST, "--delay", "3600", data=data)
    (report,) = json.loads(rehi("host", HOST, "--json", data=data).stdout)
    slow = json.loads(rehi("update", "--dry-run", "--host", HOST, "--json", data=data).stdout)
    words = rehi("update", "--dry-run", data=data).stdout
    rehi("host", HOST, "--delay", "0", data=data)
    assert slow["seconds"] == 3600 * report["facts"]["row"]["resources"]
    assert f"so long are the pauses between the pages of http://{HOST}." in words


@pytest.fixture(scope="module")
def web() -> Iterator[WorldServer]:
    with slow_web(pages=PAGES) as server:
        yield server


@pytest.fixture
def slow(web: WorldServer, tmp_path: Path) -> Settings:
    return slow_settings(tmp_path, web, slow_urls(web))


def begin(config: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rehi", "--config", str(config), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_an_update_that_is_stopped_goes_on_with_the_next(tmp_path: Path, slow: Settings, web: WorldServer) -> None:
    config, before = write_config(tmp_path, slow), web.counts[SLOW]
    with at_pace(1.0), begin(config, "update", "--json") as process:
        wait_until(lambda: web.counts[SLOW] >= before + 4, what="a few pages are visited")
        process.send_signal(signal.SIGINT)
        stopped = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert process.returncode == 130
    assert (stopped["kind"], stopped["state"]) == ("ordered", "stopped")
    assert 0 < stopped["counts"]["visited"] < PAGES
    with at_pace(0.05), begin(config, "update", "--json") as process:
        whole = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert process.returncode == 0
    assert (whole["state"], whole["due"], whole["counts"]["visited"]) == ("done", PAGES, PAGES)
    assert whole["counts"]["first"] + stopped["counts"]["first"] == PAGES


def test_an_update_is_left_to_the_rehi_that_works_here(slow: Settings, web: WorldServer) -> None:
    with House(slow) as house:
        service = Service(house)
        service.start()
        try:
            wait_until(
                lambda: house.catalogue.totals(now=house.catalogue.clock()).documents == PAGES,
                what="all pages are read",
            )
            result = elsewhere("update", "--host", SLOW, "--json", data=slow.data)
        finally:
            service.stop()
        row = json.loads(result.stdout)
        assert result.returncode == 0, result.stderr
        assert (row["kind"], row["state"]) == ("ordered", "done")
        assert row["counts"]["visited"] == row["counts"]["unchanged"] == PAGES
        assert house.catalogue.updates(Page())[0][0].id >= row["id"]


def test_looking_on_ends_when_it_is_stopped_or_nobody_works_any_more(tmp_path: Path, slow: Settings) -> None:
    config = write_config(tmp_path, slow)
    with House(slow) as house:
        with lock_folder(slow.data):
            with begin(config, "update") as process:
                wait_until(
                    lambda: open_update(house.catalogue.updates(RUNNING, running=True)[0]) is not None,
                    what="the update has begun",
                )
                process.send_signal(signal.SIGINT)
                out, _ = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0
            assert "It goes on." in out
            first = open_update(house.catalogue.updates(RUNNING, running=True)[0])
            process = begin(config, "update")
            wait_until(
                lambda: open_update(house.catalogue.updates(RUNNING, running=True)[0]) != first,
                what="another update has begun",
            )
        with process:
            _, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        assert error.startswith("rehi: the rehi that worked here has ended")
        assert open_update(house.catalogue.updates(RUNNING, running=True)[0]) is None
