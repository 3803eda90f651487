"""What robots.txt files say, case by case: Google's, the RFC's, and real files."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.corpora import CorpusMissing, corpus_file
from eval.robots import FILES, READERS, REAL, RealFile
from eval.robots_cases import GOOGLE, RFC, Case
from rehi.fetch.robots import RobotRules
from rehi.fetch.robots_rules import Matcher
from rehi.model.visit import Robots


def _allows(text: str, agent: str, url: str) -> bool:
    return RobotRules(Robots(status=200, text=text, fetched_at=datetime(2026, 1, 2, tzinfo=UTC)), agent).allows(url)


@pytest.mark.parametrize("case", [*GOOGLE, *RFC], ids=lambda case: f"{case.agent}{case.url[:60]}")
def test_a_case_is_decided_as_it_should_be(case: Case) -> None:
    assert _allows(case.text, case.agent, case.url) == case.allowed


@pytest.mark.parametrize("real", REAL, ids=lambda real: f"{real.name}-{real.agent}")
def test_a_real_file_is_read_as_it_is_meant(real: RealFile) -> None:
    try:
        data = corpus_file(f"{FILES}/{real.name}").read_bytes()
    except CorpusMissing as missing:
        pytest.skip(str(missing))
    allows = READERS["rehi"][1](data, real.agent)
    assert [url for url, allowed in real.questions() if allows(url) != allowed] == []


def _slow(rules: list[tuple[str, bool]], path: str) -> bool:
    """The same by the book: each rule by itself, character by character."""
    best = 0, True
    for pattern, allow in rules:
        anchored = pattern.endswith("$")
        body = pattern[:-1] if anchored else pattern
        ends = {0}
        for letter in body:
            if letter == "*":
                ends = set(range(min(ends), len(path) + 1)) if ends else ends
            else:
                ends = {at + 1 for at in ends if path[at : at + 1] == letter}
        if pattern and (len(path) in ends if anchored else bool(ends)):
            best = max(best, (len(pattern), allow))
    return best[1]


_PATTERN = st.text("ab/*", max_size=8).map(lambda text: "/" + text.replace("**", "*").replace("**", "*"))
_RULE = st.tuples(st.builds(lambda pattern, end: pattern + end, _PATTERN, st.sampled_from(["", "$"])), st.booleans())


@given(st.lists(_RULE, max_size=8), st.text("ab/", max_size=10))
def test_the_quick_way_decides_as_the_slow_way(rules: list[tuple[str, bool]], rest: str) -> None:
    assert Matcher(rules).allows(f"/{rest}") == _slow(rules, f"/{rest}")


_SOME = "".join(f"Disallow: /folder-{at}/\nDisallow: /*?field{at}=\n" for at in range(20))


def test_a_url_is_decided_in_no_time() -> None:
    rules = RobotRules(Robots(status=200, text=f"User-agent: *\n{_SOME}", fetched_at=datetime(2026, 1, 2, tzinfo=UTC)))
    urls = [f"https://x.test/pages/of/some/depth/{at}.html?page={at}" for at in range(1_000)]
    began = time.process_time()
    assert all(rules.allows(url) for url in urls)
    assert (time.process_time() - began) / len(urls) < 50e-6  # 5 µs when nobody else works here
