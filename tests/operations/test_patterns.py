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
     "\\d+", "\\w+", "image/(?!x)|.*"[:6] + ".*", "x\\|y", "", "[a-c.-]*", ".*a.*b.*", "õ.n"],
)  # fmt: skip
def test_a_pattern_is_the_regular_expression(text: str) -> None:
    pattern = Pattern(text)
    expected = re.compile(text)
    assert [one for one in TEXTS if pattern.matches(one)] == [one for one in TEXTS if expected.fullmatch(one)]


@pytest.mark.parametrize("text", ["(a+)+", "a{3}", "[a", "*a", "a**", "\\1", "[]", "a" * 301, "\\"])
def test_what_is_too_much_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        Pattern(text)


def test_no_pattern_takes_long() -> None:
    pattern = Pattern(".*a" * 90 + "b")
    began = time.process_time()
    assert not pattern.matches("a" * 3_000)
    assert time.process_time() - began < 2
