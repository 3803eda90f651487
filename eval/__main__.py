"""The command: ``python -m eval names`` or another of NAMES or ON_REQUEST; without a name, all of NAMES."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from eval.corpora import CorpusMissing

NAMES = ("names", "language", "robots", "warc", "revisit")
ON_REQUEST = ("revisit_tuning",)  # for choosing constants; they judge nothing


def main(arguments: Sequence[str]) -> int:
    """0 when all is as good as it should be, 1 when not, 2 when it can't be told."""
    wanted = arguments or NAMES
    unknown = [name for name in wanted if name not in (*NAMES, *ON_REQUEST)]
    if unknown:
        print(f"there is no evaluation {unknown[0]!r}; there are: {', '.join((*NAMES, *ON_REQUEST))}", file=sys.stderr)
        return 2
    try:
        passed = [import_module(f"eval.{name}").evaluate() for name in wanted]
    except CorpusMissing as missing:
        print(missing, file=sys.stderr)
        return 2
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
