"""The door of the benchmarks: runs one by its name, or lists them."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from bench.result import Options, Result


def find_benches(folder: Path) -> Mapping[str, str]:
    """Return the name and the first line of each module that has a ``run``; none is imported."""
    benches = {}
    for file in sorted(folder.glob("[!_]*.py")):
        module = ast.parse(file.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in module.body):
            benches[file.stem] = (ast.get_docstring(module) or "").partition("\n")[0]
    return benches


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; 0 if its target was reached, 1 if not, 2 if there is no such benchmark."""
    benches = find_benches(Path(__file__).parent)
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures rehi beside others in the same run.")
    parser.add_argument("name", nargs="?", help=f"one of: {', '.join(benches)}; without it, they are listed")
    parser.add_argument("--quick", action="store_true", help="measure a tenth or less, to see that it works")
    parser.add_argument("--lines", type=int, help="lines of a generated log")
    parser.add_argument("--megabytes", type=float, help="of generated histories")
    given = parser.parse_args(arguments)
    if given.name is None:
        for name, says in benches.items():
            print(f"{name:12} {says}")
        return 0
    if given.name not in benches:
        print(f"there is no benchmark {given.name!r}; there are: {', '.join(benches)}", file=sys.stderr)
        return 2
    options = Options(quick=given.quick, lines=given.lines, megabytes=given.megabytes)
    result: Result = import_module(f"bench.{given.name}").run(options)
    for part in result.missed:
        print(f"missed: {part}")
    print(result.line(), flush=True)
    return 0 if result.ok else 1


if __name__ == "__main__":
    sys.exit(main())
