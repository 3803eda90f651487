"""Names as they stand in identifiers."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.link.name import LONGEST, slug


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Katrin Paio", "katrin-paio"),
        ("KATRIN  PAIO", "katrin-paio"),
        ("Mari-Liis Õun", "mari-liis-õun"),
        ("Võru", "võru"),
        ("AS „Rehepapp & Pojad“", "as-rehepapp-pojad"),
        ("  O'Neill, Jr. ", "o-neill-jr"),
        ("ÄÖÜ", "äöü"),
        ("a_b", "a-b"),
        ("A\u0303", "ã"),  # a tilde that came by itself
        ("Kat\u00adrin", "katrin"),
        ("हिन्दी", "हिन्दी"),
        ("Владимир", "владимир"),
        ("1. Õpetajate Liit", "1-õpetajate-liit"),
        ("…", ""),
        ("", ""),
        ("\u0301", ""),
    ],
)
def test_a_slug_keeps_letters_and_digits(name: str, expected: str) -> None:
    assert slug(name) == unicodedata.normalize("NFC", expected)


def test_names_that_differ_in_a_letter_stay_apart() -> None:
    names = ["Paio", "Päio", "Paiõ", "Paiö", "Raudsepp", "Räudsepp", "Voru", "Võru", "Šmidt", "Smidt", "Žukov", "Zukov"]
    assert len({slug(name) for name in names}) == len(names)


def test_long_names_are_cut_and_stay_apart() -> None:
    first, second = slug("väga " * 50 + "pikk"), slug("väga " * 50 + "lai")
    assert first != second
    assert len(first) <= LONGEST
    assert first.startswith("väga-väga-")


@given(st.text(max_size=300))
def test_a_slug_is_short_trimmed_and_its_own_slug(name: str) -> None:
    made = slug(name)
    assert len(made) <= LONGEST
    assert made == made.strip("-")
    assert "--" not in made
    assert not any(char.isspace() or char in '/?#%<>"{}|\\^`' for char in made)
    assert slug(made) == made
    assert bool(made) == any(unicodedata.category(char)[0] in "LN" for char in unicodedata.normalize("NFC", name))
