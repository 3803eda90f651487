"""Patterns do what regular expressions do, and never take long."""

from __future__ import annotations

import re
import time

import pytest

from rehi.errors import SettingsError
from rehi.operations.patterns import Pattern

TEXTS = ["", "200", "301", "30", "text/html", "text/plain", "image/png", "a.b", "aXb", "aaab", "b", "a-b", "x|y", "õun"]


@pytest.mark.parametrize(
    "text",
    ["200", "30.", "3..|200", "[23]0[01]", "text/.*", ".*html", "^text/.+$", "a*b", "a+b", "a?b", "a\\.b", "[^0-9]+",
     "\\d+", "\\w+", "\\D{3}", "(?:text|image)/(html|p.*)", "(?i)TEXT/.*", "(a|aa)+b", "image/(?!x)|.*"[:6] + ".*", "x\\|y", "", "[a-c.-]*", ".*a.*b.*", "õ.n"],
)  # fmt: skip
def test_a_pattern_is_the_regular_expression(text: str) -> None:
    pattern = Pattern(text)
    expected = re.compile(text, re.ASCII)
    assert [one for one in TEXTS if pattern.matches(one)] == [one for one in TEXTS if expected.fullmatch(one)]


@pytest.mark.parametrize(
    "text", ["(a", "(?=a)", "[a", "*a", "a**", "(a)\\1", "[]", "a" * 301, "\\", "((a{99}){99}){99}", "\ud800"]
)
def test_what_is_too_much_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        Pattern(text)


@pytest.mark.parametrize("text", [".*a" * 90 + "b", "(a+)+b", "(a|a)*b", "(.*)*x", "a?" * 140 + "b"])
def test_no_pattern_takes_long(text: str) -> None:
    pattern = Pattern(text)
    began = time.process_time()
    assert not pattern.matches("a" * 3_000)
    assert time.process_time() - began < 2
