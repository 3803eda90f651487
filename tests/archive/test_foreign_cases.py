"""The cases by which readers of web archives are compared (``make eval NAME=warc``) are all right here."""

from __future__ import annotations

import pytest

from eval.warc import READERS
from eval.warc_cases import DAMAGED, SOUND, ArchiveCase


@pytest.mark.parametrize("case", [*SOUND, *DAMAGED], ids=lambda case: case.name)
def test_just_the_whole_answers_come_out_and_damage_is_said(case: ArchiveCase) -> None:
    assert READERS["rehi"](case.content) == (case.answers, case.damaged)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the shims that FastWARC brings
@pytest.mark.parametrize("reader", [name for name in READERS if name != "rehi"])
def test_the_others_are_asked_in_the_right_way(reader: str) -> None:
    plain, members, *_ = SOUND
    assert READERS[reader](plain.content) == (plain.answers, False)
    assert READERS[reader](members.content) == (members.answers, False)
