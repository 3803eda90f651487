"""The quality gate itself: it reads gold data right, says what is missing, and fails when it should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eval.corpora import CorpusMissing, GoldText, corpora_folder, join
from eval.names import SEEN, tagger
from eval.names import SETTINGS as NAMES_SETTINGS
from eval.practice_en import practice
from eval.report import result, table
from eval.revisit import CATCHING, TASTES, TRIALS
from eval.revisit import judge as judge_revisit
from eval.revisit_replay import ReplayScore
from eval.revisit_traces import KINDS, hasten, made_up, split
from eval.revisit_tuning import samples
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
        result("names", target="t", settings="s", missed=["x"], ours={"a": 1}, peers={}, ratio=2.0)
        .removeprefix("RESULT ")
        .split(" ", 1)
    )
    assert (name, json.loads(text)["ratio"]) == ("names", 2.0)
    assert (json.loads(text)["ok"], json.loads(text)["missed"], json.loads(text)["settings"]) == (False, ["x"], "s")
    assert table(("a", "b"), [[1, 0.5]]) == "a  b\n1  0.5000"


def test_histories_are_split_by_their_names_alone() -> None:
    traces = [trace for kind in KINDS for trace in made_up(kind, pages=6, days=30)]
    tuned, held_out = split(traces)
    assert len(tuned) + len(held_out) == len(traces)
    assert min(len(tuned), len(held_out)) > len(traces) // 4
    again = split(list(reversed(traces)))
    assert {trace.url for trace in again[1]} == {trace.url for trace in held_out}


def test_a_faster_world_has_the_same_versions_in_less_time() -> None:
    (trace,) = made_up("office", pages=1, days=60)
    (fast,) = hasten([trace], 20.0)
    assert len(fast.times) == len(trace.times)
    assert (fast.end - fast.times[0]) * 20 == pytest.approx(trace.end - trace.times[0])


def outcomes(
    *, even: float = 0.6, thesis: float = 0.6, mine: float = 0.64, catching: float = 0.3
) -> dict[str, ReplayScore]:
    made = {name: ReplayScore(10, mine, 0.2, mine) for name in TASTES.values()}
    made |= {"uniform": ReplayScore(10, even, 0.1, even), "odarchive": ReplayScore(10, thesis, 0.2, thesis)}
    return made | {CATCHING: ReplayScore(10, 0.5, catching, 0.5)}


def test_revisits_are_judged_by_freshness_and_by_what_taste_1_catches() -> None:
    thesis, shipped = TRIALS[0], TRIALS[1]
    for trial in (thesis, shipped):
        assert judge_revisit(trial, 1.0, outcomes()) == []
        assert "taste 1 catches" in judge_revisit(trial, 1.0, outcomes(catching=0.19))[0]
    assert "uniform has" in judge_revisit(shipped, 1.0, outcomes(even=0.65))[0]
    assert "odarchive has" in judge_revisit(shipped, 1.0, outcomes(thesis=0.65))[0]
    assert judge_revisit(shipped, 1.0, outcomes(mine=0.61)) == []
    assert "freshness" in judge_revisit(thesis, 1.0, outcomes(mine=0.61))[0]


def test_constants_are_chosen_with_samples_that_lack_the_busiest_hosts_and_files() -> None:
    traces = [trace for kind in ("poisson", "weekly", "still") for trace in made_up(kind, pages=3)]
    made = samples(traces)
    assert list(made) == ["all", "without weekly", "without poisson", "without the busiest files"]
    assert {trace.host for trace in made["without poisson"]} == {"weekly", "still"}
    rest = made["without the busiest files"]
    assert len(rest) == 6
    assert max(len(trace.times) for trace in rest) <= min(len(t.times) for t in traces if t not in rest)


def test_the_evaluation_of_names_says_what_the_model_has_seen() -> None:
    assert "training data of EstNLTK's model" in SEEN["et-estner"]
    assert "EstNLTK's model has seen" in NAMES_SETTINGS
    assert tagger("et")("Mari Tamm elab Tartus.") >= {(0, 9, "PER")}


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
