"""The rules that ``rehi world`` prints cover all that a visit may meet, and are what the practice web does."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from datetime import timedelta

import pytest

from rehi.testing.world import START, World, list_rules
from rehi.testing.world.hosts import Access, Redirect, path_of
from rehi.testing.world.rules import Subject


def test_there_are_rules_about_everything(world: World) -> None:
    assert {rule.about for rule in list_rules(world)} == set(Subject)


def test_every_trap_and_every_odd_redirect_has_a_rule_with_what_may_come_of_it(world: World) -> None:
    expected = {rule.where: rule.expect for rule in list_rules(world)}
    for trap in world.traps:
        assert expected[trap.url] == trap.expect == world.expect(trap.url)
    for redirect in world.redirects:
        assert isinstance(redirect, Redirect)
        if not path_of(redirect.url).startswith("/vana/"):
            assert expected[redirect.url] == world.expect(redirect.url)


def test_every_host_that_keeps_visitors_out_or_asks_them_to_wait_has_a_rule(world: World) -> None:
    ruled = {rule.where for rule in list_rules(world) if rule.about is Subject.ROBOTS}
    for host in world.hosts.values():
        closed = any(document.access is not Access.OPEN for document in host.documents)
        asks = b"crawl-delay" in (host.robots or b"").lower()
        assert (host.name in ruled) == (closed or asks or host.robots_status != 200)


def test_as_many_documents_change_as_the_rules_say(world: World) -> None:
    counts = {
        rule.rule.partition(" (")[0]: int(rule.where.split()[0])
        for rule in list_rules(world)
        if rule.about is Subject.CHANGES
    }
    assert sum(counts.values()) == len(world.documents)
    later = START + timedelta(hours=1)
    hourly = sum(world.body(one.url, later) != world.body(one.url, START) for one in world.documents if one.period)
    assert hourly == counts["change every hour"]


@pytest.mark.parametrize("as_json", [False, True], ids=["words", "json"])
def test_the_command_prints_how_to_harvest_it_and_all_its_rules(as_json: bool) -> None:
    words = [sys.executable, "-m", "rehi", "world", "--port", "0", *(["--json"] if as_json else [])]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "}" in line[:1] if as_json else "tuleb.html" in line:
                break
        process.send_signal(signal.SIGTERM)
    printed = "".join(lines)
    rules = list_rules(World())
    if as_json:
        facts = json.loads(printed)
        resolve = facts["resolve"]
        assert [one["where"] for one in facts["rules"]] == [rule.where for rule in rules]
    else:
        match = re.search(r"REHI_FETCH__RESOLVE='(\[.*?\])'", printed)
        assert match is not None
        resolve = json.loads(match[1])
        assert all(f"{rule.where}: {rule.rule}" in printed for rule in rules)
    assert [one.partition("=")[0] for one in resolve] == ["suletud.rehemaa.test", "*.test"]
