"""``rehi diff``: what it prints for people and for programs, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import rehi
from tests.cli.test_bad_input import said
from tests.compare.history import BINARY, EVIL, JSON, ONCE, PAGE, TABLE, past_in


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return past_in(tmp_path_factory.mktemp("diff") / "data").data


def test_a_page_shows_its_changed_words_and_names(data: Path) -> None:
    out = rehi("diff", PAGE, "1", data=data).stdout
    assert "version 1, 2026-03-01 12:00:00 UTC" in out
    assert "Lines: 1 added, 0 removed, 1 changed" in out
    assert "[-Katrin Paio-]" in out
    assert "{+Tõnu Õunapuu+}" in out
    assert "vanished" in out


def test_a_table_shows_its_key_rows_cells_and_since_when(data: Path) -> None:
    out = rehi("diff", TABLE, "--blame", "--no-names", data=data).stdout
    assert "Key: kood (guessed" in out
    assert "Columns added: pindala" in out
    assert "Antsla vald" in out
    assert "Since when each row has been as it is" in out
    assert "appeared" in out
    given = rehi("diff", TABLE, "1", "2", "--key", "nimi", "--no-names", data=data).stdout
    assert "Key: nimi (given)" in given
    assert "2 rows stand in another place" in given or "1 rows stand in another place" in given


def test_programs_get_all_of_it(data: Path) -> None:
    found = json.loads(rehi("diff", JSON, "--json", "--no-names", data=data).stdout)
    assert found["kind"] == "json"
    assert found["tree"]["changes"][0] == {
        "path": "$.asutused[id=2].nimi",
        "kind": "changed",
        "old": '"Lasteaed"',
        "new": '"Lasteaed Mesimumm"',
    }
    assert found["tally"] == {"unit": "values", "added": 1, "removed": 1, "changed": 1, "same": 1}
    assert found["complete"] is True


def test_a_terminal_is_told_nothing_to_obey(data: Path) -> None:
    out = rehi("diff", EVIL, "--no-names", "--limit", "3", "--blame", data=data).stdout
    assert "\x1b" not in out
    assert "There is more; only the first 3" in out


def test_bytes_are_told_apart_by_digest(data: Path) -> None:
    out = rehi("diff", BINARY, "--no-names", data=data).stdout
    assert "The bytes differ: sha256:" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((ONCE,), "only one version"),
        (("http://nowhere.test/x",), "nothing is kept"),
        ((PAGE, "7"), "there is no version 7"),
        ((PAGE, "soon"), "neither the number of a version nor a moment"),
        ((TABLE, "--key", "puudub"), "there is no column 'puudub'; the columns are kood, nimi, elanikke, pindala"),
        ((PAGE, "--blame", "--no-names"), "are for tables"),
    ],
    ids=["once", "unknown", "number", "word", "key", "blame"],
)
def test_what_can_not_be_compared_is_one_sentence(data: Path, words: tuple[str, ...], says: str) -> None:
    assert says in said(rehi("diff", *words, data=data))


def test_wrong_usage(data: Path) -> None:
    assert rehi("diff", TABLE, "--key", " , ", data=data).returncode == 2
    assert rehi("diff", TABLE, "--limit", "0", data=data).returncode == 2
    assert rehi("diff", data=data).returncode == 2
