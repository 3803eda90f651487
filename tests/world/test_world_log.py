"""The crawl log: well-formed Heritrix 3 lines that lead to everything, and a verdict on each."""

from __future__ import annotations

import re
from collections import Counter

from rehi.testing.world import World
from rehi.testing.world.log import ACCEPTED, MALFORMED

_LINE = re.compile(
    rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z +(-?\d+) +(\d+|-) (\S+) ([A-Z]+|-) (\S+) ([a-z]+/\S+) #\d{3} \d{17}\+\d+ "
    rb"sha1:[A-Z2-7]{32} - -\n"
)


def test_every_line_is_well_formed_or_said_not_to_be(world: World) -> None:
    for line in world.log_lines():
        assert line.raw.endswith(b"\n")
        assert (_LINE.fullmatch(line.raw) is None) == (line.verdict == MALFORMED), line.raw


def test_it_leads_to_everything_and_to_nothing_else(world: World) -> None:
    assert world.accepted() == set(world.urls())


def test_prerequisites_lead_to_their_referrer_and_guesses_to_nothing(world: World) -> None:
    for line in world.log_lines():
        match = _LINE.fullmatch(line.raw)
        if match is None:
            continue
        url, path, via = match[3].decode(), match[4].decode(), match[5].decode()
        if "X" in path:
            assert line.verdict == "speculative"
        elif "P" in path:
            assert (line.verdict, line.url) == (ACCEPTED, via)
        elif line.verdict == ACCEPTED:
            assert line.url == url
            assert url.startswith("http://")
            assert 100 <= int(match[1]) <= 599


def test_every_reason_to_refuse_a_line_is_there(world: World) -> None:
    verdicts = Counter(line.verdict for line in world.log_lines())
    assert set(verdicts) == {ACCEPTED, MALFORMED, "speculative", "type", "status", "dns", "scheme", "robots"}
    assert verdicts[MALFORMED] == 3


def test_its_times_run_forward(world: World) -> None:
    times = [line.raw[:24] for line in world.log_lines() if line.verdict != MALFORMED]
    assert times == sorted(times)
    assert max(times) < b"2026-03-02T08:00:00"
