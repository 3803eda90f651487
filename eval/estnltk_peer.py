"""The peer: EstNLTK's own tagger of names, on the same texts. Runs in a process of its own: ``python -m eval.estnltk_peer``.

Reads texts with their names as JSON from standard input, and writes its score as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from eval.corpora import Gold, GoldText
from eval.scores import Score, score


def run_peer(texts: Sequence[GoldText]) -> Score:
    """EstNLTK's score on these texts."""
    rows = [{"text": each.text, "names": each.names, "words": each.words} for each in texts]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "eval.estnltk_peer"],
        input=json.dumps(rows), capture_output=True, text=True, timeout=600, check=False,
        cwd=Path(__file__).resolve().parents[1],
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"EstNLTK's tagger failed: {done.stderr.strip()[-300:]}")
    return Score(**json.loads(done.stdout.strip().splitlines()[-1]))


def main() -> None:
    """Tag what standard input brings."""
    from estnltk import Text
    from estnltk.taggers import NerTagger, SentenceTokenizer
    from nltk.tokenize.simple import LineTokenizer  # type: ignore[import-untyped]

    tagger = NerTagger()
    # A line is a sentence in these texts, so it is told the true sentences; its own tokeniser of sentences would have
    # to download its data.
    lines = SentenceTokenizer(base_sentence_tokenizer=LineTokenizer())

    def tag(text: str) -> set[Gold]:
        layered = Text(text)
        layered.tag_layer(["words"])
        lines.tag(layered)
        layered.tag_layer(["morph_analysis"])
        tagger.tag(layered)
        return {(span.start, span.end, span.nertag) for span in layered.ner}

    rows = json.load(sys.stdin)
    texts = [
        GoldText(text=row["text"], names=tuple((a, b, kind) for a, b, kind in row["names"]), words=row["words"])
        for row in rows
    ]
    tag("Mari Tamm elab Tartus.")  # loading the model is not its speed
    print(json.dumps(asdict(score(texts, tag))))


if __name__ == "__main__":
    main()
