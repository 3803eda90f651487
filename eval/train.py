"""Training of the English model: ``python -m eval.train`` writes ``src/rehi/languages/models/en.crf``.

One document in five of each corpus is held out, chosen by the hash of its name or number, and never trained on.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from eval.corpora import CorpusMissing, Gold, GoldText, corpus_file, iob2, join, multileg
from eval.practice_en import practice
from rehi.languages.en_features import features
from rehi.languages.sentences import sentences

MODEL = Path(__file__).resolve().parents[1] / "src" / "rehi" / "languages" / "models" / "en.crf"
EWT = "09-ner/UniversalNER+UNER_English-EWT/en_ewt-ud-dev.iob2"
MULTILEG = "09-ner/tilde-nlp+MultiLeg-dataset/data/en/train"
SETTINGS = {"c1": 0.5, "c2": 0.005, "max_iterations": 120, "feature.minfreq": 2}
PRACTICE = 6_000
SEED = 1


def _is_held_out(name: str) -> bool:
    return zlib.crc32(name.encode()) % 5 == 0


def ewt(held_out: bool) -> list[GoldText]:
    """The web texts of one side of the split."""
    documents = iob2(corpus_file(EWT))
    return [join(document) for at, document in enumerate(documents) if _is_held_out(f"ewt-{at}") == held_out]


def legal(held_out: bool) -> list[GoldText]:
    """The legal texts of one side of the split."""
    paths = sorted(corpus_file(MULTILEG).glob("*.jsonl"))
    return list(multileg([path for path in paths if _is_held_out(path.name) == held_out]))


def labelled(text: str, names: tuple[Gold, ...]) -> Iterator[tuple[list[str], list[str]]]:
    """The sentences of a text as words and labels, cut by the tokeniser that will be used later."""
    for sentence in sentences(text):
        labels = []
        for token in sentence:
            around = next((name for name in names if name[0] <= token.start and token.end <= name[1]), None)
            labels.append("O" if around is None else ("B-" if token.start == around[0] else "I-") + around[2])
        yield [token.text for token in sentence], labels


def train(model: Path) -> None:
    """Train on everything that is not held out."""
    from pycrfsuite import Trainer

    trainer = Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(SETTINGS)
    texts = [(each.text, each.names) for each in (*ewt(False), *legal(False))]
    texts += [(text, tuple(names)) for text, names in practice(PRACTICE, SEED)]
    for text, names in texts:
        for words, labels in labelled(text, names):
            trainer.append(features(words), labels)
    model.parent.mkdir(exist_ok=True)
    trainer.train(str(model))
    print(f"{model}: {model.stat().st_size:,} bytes")


if __name__ == "__main__":
    try:
        train(Path(sys.argv[1]) if len(sys.argv) > 1 else MODEL)
    except CorpusMissing as missing:
        print(missing, file=sys.stderr)
        sys.exit(2)
