"""Names of two versions: which stand in a text, whatever else they were taken for."""

from __future__ import annotations

import re
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from rehi.compare import find_standing

pieces = st.text("aA-. \u201e\nõ1", max_size=12)


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


@given(st.lists(pieces.filter(lambda name: re.search(r"\w", name) is not None), max_size=6), pieces)
def test_names_are_found_as_they_are_one_by_one(names: list[str], text: str) -> None:
    assert find_standing(names, text) == {name for name in names if _stands_in(name, text)}


def test_a_name_is_no_part_of_a_word_and_may_begin_and_end_with_a_sign() -> None:
    text = "Ta elab \u201eVana-Jaani\u201d talus, ja Jaan Tamm Jr. ka."
    assert find_standing(["Jaan", "Jaan Tamm", "Jaan  Tamm", "Jaan Tamm Jr.", "Vana", "Vana-Jaan", "\u201eVana-Jaani\u201d", "Mari"], text) == {
        "Jaan", "Jaan Tamm", "Jaan Tamm Jr.", "Vana", "\u201eVana-Jaani\u201d",
    }  # fmt: skip


def test_twenty_thousand_names_are_looked_for_in_a_long_text_within_a_second_or_two() -> None:
    names = [f"Jaan Tamm{n}" for n in range(10_000)] + [f"Mari{n}" for n in range(10_000)]
    text = " ".join(["Jaan Tamm", "Mari"] * 100_000)
    began = process_time()
    assert find_standing(names, text) == set()
    assert process_time() - began < 5  # one by one they take a minute
