"""The quality gate itself: it reads gold data right, says what is missing, and fails when it should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eval.corpora import CorpusMissing, GoldText, corpora_folder, join
from eval.practice_en import practice
from eval.report import result, table
from eval.scores import score
from eval.train import labelled

ROOT = Path(__file__).resolve().parents[1]


def run(*arguments: str, corpora: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eval", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        env={"REHI_CORPORA": corpora, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip


def test_a_text_is_written_again_from_its_words_with_its_names_in_place() -> None:
    words = [
        ("Mari", "B-PER"),
        ("Tamm", "I-PER"),
        ("(", "O"),
        ("Elva", "B-GPE"),
        (")", "O"),
        (",", "O"),
        ("täna", "B-DATE"),
    ]
    gold = join([words])
    assert gold.text == "Mari Tamm (Elva), täna\n"
    assert [(gold.text[a:b], kind) for a, b, kind in gold.names] == [("Mari Tamm", "PER"), ("Elva", "LOC")]


def test_only_the_right_place_and_kind_count() -> None:
    gold = GoldText(text="Mari elab Elvas", names=((0, 4, "PER"), (10, 15, "LOC")), words=3)
    got = score([gold], lambda text: {(0, 4, "PER"), (10, 15, "ORG")})
    assert (got.right, got.wrong, got.missed) == (1, 1, 1)
    assert got.f1 == got.precision == got.recall == 0.5


def test_practice_sentences_are_the_same_for_the_same_seed_and_know_their_names() -> None:
    made = practice(50, 7)
    assert made == practice(50, 7) != practice(50, 8)
    assert all(text[a:b][:1].isupper() for text, names in made for a, b, _ in names)


def test_labels_follow_our_own_tokens() -> None:
    ((words, labels),) = labelled("Mary Smith's dog", ((0, 10, "PER"),))
    assert list(zip(words, labels, strict=True)) == [
        ("Mary", "B-PER"), ("Smith", "I-PER"), ("'s", "O"), ("dog", "O"),
    ]  # fmt: skip


def test_the_last_line_can_be_read_by_programs() -> None:
    name, text = (
        result("names", ok=True, target="t", ours={"a": 1}, peers={}, ratio=2.0).removeprefix("RESULT ").split(" ", 1)
    )
    assert (name, json.loads(text)["ratio"]) == ("names", 2.0)
    assert table(("a", "b"), [[1, 0.5]]) == "a  b\n1  0.5000"


def test_missing_corpora_are_one_clear_sentence(tmp_path: Path) -> None:
    done = run("names", corpora=str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "set REHI_CORPORA" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_evaluation_is_one_clear_sentence(tmp_path: Path) -> None:
    done = run("moods", corpora=str(tmp_path))
    assert done.returncode == 2
    assert "there are: names, language" in done.stderr


def test_languages_are_told_as_well_as_before() -> None:
    try:
        folder = corpora_folder()
    except CorpusMissing as missing:
        pytest.skip(str(missing))
    done = run("language", corpora=str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.strip().splitlines()[-1]
    assert json.loads(last.removeprefix("RESULT language "))["ok"] is True
